import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { measureDeliveryHealth } from '../../data/delivery-health.ts';

export const deliveryHealth = handle(registry.projects.deliveryHealth, ({ params, targetId, db }) =>
  measureDeliveryHealth(db, targetId, params),
);
