import { attachmentsRegistry } from '@muster/attachments-registry';
import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, pathNotFound } from '@muster/runtime';
import { getExecution, toExecution } from '../../../data/executions.ts';
import { findRun } from '../../../data/run-lists.ts';
import { listRunUsage, runIdOfLease } from '../../../data/usage.ts';
import { listRunEvents } from '../../../leases/events.ts';

export const get = handle(deliveryRegistry.agents.runs.get, async ({ params, caller, db, perform }) => {
  const { run, rowId } = (await findRun(db, caller, params)) ?? {};
  if (run === undefined) throw pathNotFound('runId');
  const { executionId } = run;
  const [steps, found, evidence] = await Promise.all([
    executionId === null ? [] : listRunEvents(db, executionId, run),
    executionId === null ? undefined : getExecution(db, executionId),
    executionId === null
      ? undefined
      : perform(attachmentsRegistry.attachments.list, {
          targetType: 'execution',
          targetId: executionId,
          limit: 200,
        }),
  ]);
  // A run that is derived from a lease without a run has the id of the execution.
  const isOfLease = rowId === null && run.runId === executionId && found !== undefined;
  const runId = isOfLease ? runIdOfLease(found.execution) : run.runId;
  const usage = await listRunUsage(db, { ...run, runId, memberId: run.member.id });
  return {
    run,
    steps,
    usage,
    execution: found === undefined ? null : toExecution(found.execution, found.lease, found.now),
    evidence: evidence?.items ?? [],
  };
});
