import { type HandlerContext } from '@muster/runtime';
import { type registry } from '@muster/registry';
import { leaseTtl } from '../rules/ttl.ts';

type Renewal = typeof registry.deliveryExecutions.renew | typeof registry.deliveryGroups.renewLease;

/** The seconds that a renewal asks for, as the policy allows them; undefined where it keeps those that were given. */
export async function askedTtl({
  params: { ttlSeconds },
  policy,
}: Pick<HandlerContext<Renewal>, 'params' | 'policy'>): Promise<number | undefined> {
  return ttlSeconds === undefined ? undefined : leaseTtl(ttlSeconds, await policy());
}
