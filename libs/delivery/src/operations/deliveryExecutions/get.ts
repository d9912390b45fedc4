import { deliveryRegistry } from '@muster/delivery-registry';
import { handle } from '@muster/runtime';
import { findBudgetStop, withBudgetStop } from '../../data/exceeded-budgets.ts';
import { getExecution, toExecution } from '../../data/executions.ts';

export const get = handle(deliveryRegistry.deliveryExecutions.get, async ({ params, db }) => {
  const [{ execution, lease, now }, stop] = await Promise.all([
    getExecution(db, params.executionId),
    findBudgetStop(db, params.executionId),
  ]);
  return { execution: toExecution(withBudgetStop(execution, stop), lease, now) };
});
