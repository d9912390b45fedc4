import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getExecution, toExecution } from '../../data/executions.ts';

export const get = handle(registry.deliveryExecutions.get, async ({ params, caller, db }) => {
  const { execution, lease, now } = await getExecution(db, caller.orgId, params.executionId);
  return { execution: toExecution(execution, lease, now) };
});
