import { type HandlerContext } from '@muster/runtime';
import { type deliveryRegistry } from '@muster/delivery-registry';
import { leaseDurationSeconds } from '../rules/ttl.ts';

type RenewOperation =
  | typeof deliveryRegistry.deliveryExecutions.renew
  | typeof deliveryRegistry.deliveryGroups.renewLease;

/** Returns the requested time to live in seconds, limited by the policy. Undefined keeps the current one. */
export async function requestedTtlSeconds({
  params: { ttlSeconds },
  policy,
}: Pick<HandlerContext<RenewOperation>, 'params' | 'policy'>): Promise<number | undefined> {
  return ttlSeconds === undefined ? undefined : leaseDurationSeconds(ttlSeconds, await policy());
}
