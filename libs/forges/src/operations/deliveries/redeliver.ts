import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { outboxRow } from '@muster/tenancy';
import { renewDelivery, toDelivery } from '../../data/deliveries.ts';

export const redeliver = handle(registry.forges.deliveries.redeliver, async ({ params, db }) => {
  const delivery = await renewDelivery(db, params.deliveryId);
  db.later(outboxRow('forge.translate', { deliveryId: delivery.id }));
  return { delivery: toDelivery(delivery) };
});
