import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listPlans } from '../../data/plans.ts';

export const list = handle(registry.plans.list, ({ params, targetId, db }) =>
  listPlans(db, targetId, params),
);
