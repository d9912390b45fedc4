import { type HandlerContext } from '@muster/runtime';
import { type registry } from '@muster/registry';
import { leaseTtl } from '../rules/ttl.ts';

type Renewal = typeof registry.deliveryExecutions.renew | typeof registry.deliveryGroups.renewLease;

/** Returns the requested time to live in seconds, limited by the policy. Undefined keeps the current one. */
export async function askedTtl({
  params: { ttlSeconds },
  policy,
}: Pick<HandlerContext<Renewal>, 'params' | 'policy'>): Promise<number | undefined> {
  return ttlSeconds === undefined ? undefined : leaseTtl(ttlSeconds, await policy());
}
