import { type registry } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import {
  changedExecution,
  type Deed,
  type ExecutionChanges,
  type ExecutionRow,
  freeLocksOf,
  setExecution,
  toExecution,
} from '../../data/executions.ts';
import { heldOf } from '../../data/leases.ts';
import { lockExecution } from '../../data/locked-executions.ts';
import { aboutTarget } from '../../data/targets.ts';

/** Asks the holder to stop. Work that nobody holds ends at once, as canceled; what has ended stays as it is. */
export async function requestStop({
  params,
  caller,
  db,
  emit,
}: HandlerContext<typeof registry.deliveryExecutions.update>) {
  const { executionId } = params;
  const { lease, execution, now, target } = await lockExecution(db, caller.orgId, executionId);
  const answer = (row: ExecutionRow) => ({ execution: toExecution(row, lease, now), signals: [] });
  if (execution.state === 'completed') return answer(execution);

  const reason = params.reason ?? null;
  const held = heldOf(lease);
  const isHeld = execution.state === 'leased' || execution.state === 'waiting_input';
  if (isHeld && held !== undefined) {
    const deeds: Deed[] = [{ kind: 'stop_requested', data: { reason } }];
    const stop = {
      seq: execution.last_event_seq + 1,
      by: caller.actor,
      reason,
      at: now,
      holder: held.holder,
    };
    const changed = changedExecution(execution, { stop_requested: stop }, now, deeds);
    db.later(setExecution(caller.orgId, changed, ['stop_requested'], caller.actor, deeds));
    emit('execution.stopRequested', aboutTarget(target), { executionId });
    return answer(changed);
  }
  const deeds: Deed[] = [{ kind: 'completed', data: { outcome: 'canceled', reason } }];
  const changes: ExecutionChanges = {
    state: 'completed',
    outcome: 'canceled',
    completed_at: now,
    offer: null,
    stop_requested: null,
  };
  const changed = changedExecution(execution, changes, now, deeds);
  const columns = Object.keys(changes) as (keyof ExecutionChanges)[];
  db.later(setExecution(caller.orgId, changed, columns, caller.actor, deeds));
  db.later(freeLocksOf(caller.orgId, executionId));
  emit('execution.completed', aboutTarget(target), { executionId, outcome: 'canceled' });
  return answer(changed);
}
