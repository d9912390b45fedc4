/**
 * The state machine of a run. The operation agents.runEvent and the diagram in the docs use this one table.
 * The state `stalled` is derived and never stored. A run is stalled after a period without events and without
 * a live lease.
 */
import {
  type FinalRunState,
  finalRunStates,
  type Outcome,
  type RunEventKind,
  type RunState,
} from '@muster/contract';

/**
 * The state after each kind of event of a run that has not ended. Null keeps the state; a new run starts as
 * running.
 */
export const runStateByEventKind: Readonly<Record<RunEventKind, RunState | null>> = {
  started: 'running',
  heartbeat: null,
  progress: 'running',
  // A waiting run may send a message about the reason for which it waits.
  message: null,
  tool_call: 'running',
  log: null,
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
};

const finalStates: readonly RunState[] = finalRunStates;
export const isFinalRunState = (state: RunState): state is FinalRunState => finalStates.includes(state);

/** Returns the state after an event; `before` is undefined for a new run. */
export const runStateAfterEvent = (kind: RunEventKind, previousState: RunState | undefined): RunState =>
  runStateByEventKind[kind] ?? previousState ?? 'running';

/** The owner of a run. */
export interface RunOwner {
  readonly memberId: string;
  readonly agentId: string | null;
}

export type RunDecision = 'accept' | 'repeat' | 'not_own' | 'ended';

/** Decides if an existing run accepts an event, has already recorded it, or rejects it. */
export function decideRunEvent(
  run: RunOwner & { readonly state: RunState },
  event: RunOwner & { readonly kind: RunEventKind; readonly isDuplicateEvent: boolean },
): RunDecision {
  if (run.memberId !== event.memberId || run.agentId !== event.agentId) return 'not_own';
  if (event.isDuplicateEvent) return 'repeat';
  if (!isFinalRunState(run.state)) return 'accept';
  return runStateByEventKind[event.kind] === run.state ? 'repeat' : 'ended';
}

/** The silence after which a run without a live lease is stalled. */
export const stalledAfterSeconds = 90;
/** The silence after which a run no longer counts as active. */
export const inactiveAfterHours = 24;

/** Returns the state of an unfinished run that readers see. */
export function visibleRunState(run: {
  readonly state: 'running' | 'waiting';
  readonly isLeased: boolean;
  readonly lastSeenAt: string;
  readonly now: string;
}): 'running' | 'waiting' | 'stalled' {
  const silentMs = Date.parse(run.now) - Date.parse(run.lastSeenAt);
  return run.isLeased || silentMs < stalledAfterSeconds * 1000 ? run.state : 'stalled';
}

/** The final state of a run by the outcome of its work. */
export const runStateByOutcome: Readonly<Record<Outcome, FinalRunState>> = {
  submitted: 'completed',
  succeeded: 'completed',
  failed: 'failed',
  canceled: 'canceled',
};
