import { type registry } from '@muster/registry';
import { type HandlerContext } from '@muster/runtime';
import { toExecution } from '../../data/executions.ts';
import { heldLease } from '../../data/leases.ts';
import { lockExecution } from '../../data/locked-executions.ts';
import { aboutTarget, isOver } from '../../data/targets.ts';
import { can } from '../../leases/states.ts';
import { step, type Step } from '../../leases/step.ts';
import { writeStep } from '../../leases/write-step.ts';

/** Asks the holder to stop. Work that no holder will end ends at once, as canceled; what has ended stays as it is. */
export async function requestStop(context: HandlerContext<typeof registry.deliveryExecutions.update>) {
  const { params, caller, db, emit } = context;
  const { executionId } = params;
  const { lease, execution, now, target } = await lockExecution(db, executionId);
  const after = ({ row }: Pick<Step, 'row'>) => ({ execution: toExecution(row, lease, now), signals: [] });
  if (!can('cancel', execution.state)) return after({ row: execution });

  const reason = params.reason ?? null;
  const held = heldLease(lease);
  // Past its time on what is over, no other can take it, and none may be left to complete it.
  const isLeft = held !== null && held.expiresAt <= now && isOver(target);
  if (held !== null && !isLeft && can('requestStop', execution.state)) {
    const seq = execution.last_event_seq + 1;
    const said = { reason, by: caller.actor };
    const stop = { seq, ...said, at: now, holder: held.holder };
    const taken = step(execution, 'requestStop', { now, sets: { stop_requested: stop }, data: said });
    writeStep(context, taken, lease);
    emit('execution.stopRequested', aboutTarget(target), { executionId });
    return after(taken);
  }
  const taken = step(execution, 'cancel', { now, data: { reason } });
  writeStep(context, taken, lease);
  emit('execution.completed', aboutTarget(target), { executionId, outcome: 'canceled' });
  return after(taken);
}
