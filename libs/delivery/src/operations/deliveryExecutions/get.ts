import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getExecution, toExecution } from '../../data/executions.ts';

export const get = handle(registry.deliveryExecutions.get, async ({ params, db }) => {
  const { execution, lease, now } = await getExecution(db, params.executionId);
  return { execution: toExecution(execution, lease, now) };
});
