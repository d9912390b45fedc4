import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findBudgetStop, withBudgetStop } from '../../data/exceeded-budgets.ts';
import { findExecutionForTarget, toExecution } from '../../data/executions.ts';

export const getForTarget = handle(
  registry.deliveryExecutions.getForTarget,
  async ({ params, targetId, db }) => {
    const found = await findExecutionForTarget(db, params.targetType, targetId);
    if (found === undefined) return { execution: null };
    const { execution, lease, now } = found;
    const stop = await findBudgetStop(db, execution.id);
    return { execution: toExecution(withBudgetStop(execution, stop), lease, now) };
  },
);
