import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listPlans } from '../../data/plans.ts';

export const list = handle(boardRegistry.plans.list, ({ params, targetId, db }) =>
  listPlans(db, targetId, params),
);
