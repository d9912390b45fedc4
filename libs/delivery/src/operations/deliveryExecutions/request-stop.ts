import { type deliveryRegistry } from '@muster/delivery-registry';
import { forbidden, type HandlerContext } from '@muster/runtime';
import { findExecutionForTarget, toExecution } from '../../data/executions.ts';
import { toHeldLease } from '../../data/leases.ts';
import { type LockedExecution, lockExecution } from '../../data/locked-executions.ts';
import { targetSubject, isTargetFinished } from '../../data/targets.ts';
import { canTransition } from '../../leases/states.ts';
import { applyTransition, type ExecutionStep } from '../../leases/step.ts';
import { writeStep } from '../../leases/write-step.ts';

type UpdateExecutionContext = HandlerContext<typeof deliveryRegistry.deliveryExecutions.update>;

const toResponse = ({ lease, now }: LockedExecution, { row }: Pick<ExecutionStep, 'row'>) => ({
  execution: toExecution(row, lease, now),
  signals: [],
});

/**
 * Refuses an execution that is completed and not the target's newest. A stop request belongs to the target. It is
 * stored on the target's newest execution, even if that execution has ended.
 */
async function requireNewestExecution(
  { db, refuse }: UpdateExecutionContext,
  { execution }: LockedExecution,
): Promise<void> {
  if (execution.state !== 'completed') return;
  const newest = await findExecutionForTarget(db, execution.target_type, execution.target_id);
  if (newest?.execution.id !== execution.id) throw refuse('invalid_transition', { status: execution.state });
}

/**
 * Stops the work until a member lifts the stop. The holder is asked to stop; work that no holder will end is
 * canceled immediately. Work on a finished target stays as it is.
 */
export async function requestStop(context: UpdateExecutionContext) {
  const { params, caller, db, emit } = context;
  const { executionId } = params;
  const unit = await lockExecution(db, executionId);
  const { lease, execution, now, target } = unit;
  const isCompleted = execution.state === 'completed';
  if (isCompleted && (isTargetFinished(target) || execution.stop_requested !== null))
    return toResponse(unit, { row: execution });
  await requireNewestExecution(context, unit);

  const reason = params.reason ?? null;
  const seq = execution.last_event_seq + 1;
  const said = { reason, by: caller.actor };
  const sets = { stop_requested: { seq, ...said, at: now } };
  const held = toHeldLease(lease);
  // The lease has expired and the target is finished. No other holder can take this work, so no holder would
  // complete it.
  const isLeft = held !== null && held.expiresAt <= now && isTargetFinished(target);
  const isAsked = isCompleted || (held !== null && !isLeft && canTransition('requestStop', execution.state));
  const taken = isAsked
    ? applyTransition(execution, 'requestStop', { now, sets, data: said })
    : applyTransition(execution, 'cancel', {
        now,
        sets,
        data: { reason },
        precedingEvents: [{ kind: 'stop_requested', data: said }],
      });
  writeStep(context, taken, lease);
  emit('execution.stopRequested', targetSubject(target), { executionId });
  if (!isAsked) emit('execution.completed', targetSubject(target), { executionId, outcome: 'canceled' });
  return toResponse(unit, taken);
}

/** Lifts a stop, so that agents can take the work again. */
export async function liftStop(context: UpdateExecutionContext) {
  const { params, caller, db, emit } = context;
  const { executionId } = params;
  if (caller.agentId !== null) throw forbidden('agents_may_not');
  const unit = await lockExecution(db, executionId);
  const { lease, execution, now, target } = unit;
  await requireNewestExecution(context, unit);
  if (execution.stop_requested === null) return toResponse(unit, { row: execution });
  const taken = applyTransition(execution, 'liftStop', { now, data: { reason: params.reason ?? null } });
  writeStep(context, taken, lease);
  emit('execution.stopLifted', targetSubject(target), { executionId });
  return toResponse(unit, taken);
}
