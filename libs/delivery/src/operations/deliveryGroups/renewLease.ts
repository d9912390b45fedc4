import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { asCoordinator, renewAndAnswer } from '../../leases/group-holder.ts';
import { askedTtl } from '../renewal.ts';

export const renewLease = handle(registry.deliveryGroups.renewLease, async (context) => {
  const [ttlSeconds, holder] = await Promise.all([askedTtl(context), asCoordinator(context, context.params)]);
  return renewAndAnswer(context, holder, { ttlSeconds });
});
