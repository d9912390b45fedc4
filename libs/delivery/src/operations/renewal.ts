import { type HandlerContext } from '@muster/runtime';
import { type registry } from '@muster/registry';
import { leaseDurationSeconds } from '../rules/ttl.ts';

type RenewOperation = typeof registry.deliveryExecutions.renew | typeof registry.deliveryGroups.renewLease;

/** Returns the requested time to live in seconds, limited by the policy. Undefined keeps the current one. */
export async function requestedTtlSeconds({
  params: { ttlSeconds },
  policy,
}: Pick<HandlerContext<RenewOperation>, 'params' | 'policy'>): Promise<number | undefined> {
  return ttlSeconds === undefined ? undefined : leaseDurationSeconds(ttlSeconds, await policy());
}
