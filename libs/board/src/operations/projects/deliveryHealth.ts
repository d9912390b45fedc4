import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { measureHealth } from '../../data/delivery-health.ts';

export const deliveryHealth = handle(registry.projects.deliveryHealth, ({ params, targetId, db }) =>
  measureHealth(db, targetId, params),
);
