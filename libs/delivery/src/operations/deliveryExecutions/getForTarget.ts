import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findExecutionForTarget, toExecution } from '../../data/executions.ts';

export const getForTarget = handle(
  registry.deliveryExecutions.getForTarget,
  async ({ params, targetId, db }) => {
    const found = await findExecutionForTarget(db, params.targetType, targetId);
    return {
      execution: found === undefined ? null : toExecution(found.execution, found.lease, found.now),
    };
  },
);
