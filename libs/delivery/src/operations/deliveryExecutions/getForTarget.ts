import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { findBudgetStop, withBudgetStop } from '../../data/exceeded-budgets.ts';
import { findExecutionForTarget, newestExecutionSql, toExecution } from '../../data/executions.ts';

export const getForTarget = handle(
  deliveryRegistry.deliveryExecutions.getForTarget,
  async ({ params, targetId, db }) => {
    const [found, stop] = await Promise.all([
      findExecutionForTarget(db, params.targetType, targetId),
      findBudgetStop(db, newestExecutionSql(params.targetType, targetId)),
    ]);
    if (found === undefined) return { execution: null };
    const { execution, lease, now } = found;
    return { execution: toExecution(withBudgetStop(execution, stop), lease, now) };
  },
);
