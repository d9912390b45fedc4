import { registry } from '@muster/registry';
import { handle, pathNotFound } from '@muster/runtime';
import { getExecution, toExecution } from '../../../data/executions.ts';
import { findRun } from '../../../data/run-lists.ts';
import { listRunUsage } from '../../../data/usage.ts';
import { listRunEvents } from '../../../leases/events.ts';

export const get = handle(registry.agents.runs.get, async ({ params, caller, db }) => {
  const { run } = (await findRun(db, caller, params)) ?? {};
  if (run === undefined) throw pathNotFound('runId');
  const { executionId } = run;
  const [usage, steps, found] = await Promise.all([
    listRunUsage(db, { ...run, memberId: run.member.id }),
    executionId === null ? [] : listRunEvents(db, executionId, run),
    executionId === null ? undefined : getExecution(db, executionId),
  ]);
  return {
    run,
    steps,
    usage,
    execution: found === undefined ? null : toExecution(found.execution, found.lease, found.now),
  };
});
