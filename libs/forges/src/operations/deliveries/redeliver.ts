import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { resetDelivery, toDelivery } from '../../data/deliveries.ts';

export const redeliver = handle(forgesRegistry.forges.deliveries.redeliver, async ({ params, db }) => {
  const delivery = await resetDelivery(db, params.deliveryId);
  db.deferToCommit(outboxRow('forge.translate', { deliveryId: delivery.id }));
  return { delivery: toDelivery(delivery) };
});
