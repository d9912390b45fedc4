import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findForTarget, toExecution } from '../../data/executions.ts';

export const getForTarget = handle(registry.deliveryExecutions.getForTarget, async ({ params, db }) => {
  const found = await findForTarget(db, params.targetType, params.targetId);
  return {
    execution: found === undefined ? null : toExecution(found.execution, found.lease, found.now),
  };
});
