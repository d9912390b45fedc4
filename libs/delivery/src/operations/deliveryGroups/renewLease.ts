import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { requireCoordinator, writeAndRenewLease } from '../../leases/group-holder.ts';
import { requestedTtlSeconds } from '../renewal.ts';

export const renewLease = handle(deliveryRegistry.deliveryGroups.renewLease, async (context) => {
  const [ttlSeconds, holder] = await Promise.all([
    requestedTtlSeconds(context),
    requireCoordinator(context, context.params),
  ]);
  return writeAndRenewLease(context, holder, { ttlSeconds });
});
