import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { measureDeliveryHealth } from '../../data/delivery-health.ts';

export const deliveryHealth = handle(boardRegistry.projects.deliveryHealth, ({ params, targetId, db }) =>
  measureDeliveryHealth(db, targetId, params),
);
