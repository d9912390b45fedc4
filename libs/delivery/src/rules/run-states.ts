/**
 * The life of a run: the one table that agents.runEvent goes by and that the docs' diagram is drawn from. Whether a run
 * is stalled is seen, never stored: so long without an event, and without a live lease.
 */
import {
  type FinalRunState,
  finalRunStates,
  type Outcome,
  type RunEventKind,
  type RunState,
} from '@muster/registry';

/** What each kind of event makes of a run that has not ended; null leaves it as it is, and begins one that runs. */
export const eventMakes: Readonly<Record<RunEventKind, RunState | null>> = {
  started: 'running',
  heartbeat: null,
  progress: 'running',
  // A run that waits may say for what.
  message: null,
  tool_call: 'running',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
};

const final: readonly RunState[] = finalRunStates;
export const isFinal = (state: RunState): state is FinalRunState => final.includes(state);

/** The state after an event of a run that has not ended; of one that there was not: undefined. */
export const stateAfter = (kind: RunEventKind, before: RunState | undefined): RunState =>
  eventMakes[kind] ?? before ?? 'running';

/** Who a run belongs to. */
export interface RunOwner {
  readonly memberId: string;
  readonly agentId: string | null;
}

export type RunDecision = 'accept' | 'repeat' | 'not_own' | 'ended';

/** What becomes of an event of a run that there is. */
export function decideRunEvent(
  run: RunOwner & { readonly state: RunState },
  event: RunOwner & { readonly kind: RunEventKind; readonly isKnown: boolean },
): RunDecision {
  if (run.memberId !== event.memberId || run.agentId !== event.agentId) return 'not_own';
  if (event.isKnown) return 'repeat';
  if (!isFinal(run.state)) return 'accept';
  return eventMakes[event.kind] === run.state ? 'repeat' : 'ended';
}

/** After so long a silence a run that holds no live lease is stalled. */
export const stalledAfterSeconds = 90;
/** And after so long it is not counted among the active any more. */
export const forgottenAfterHours = 24;

/** The state of a run that has not ended, as a reader sees it. */
export function shownRunState(run: {
  readonly state: 'running' | 'waiting';
  readonly isLeased: boolean;
  readonly lastSeenAt: string;
  readonly now: string;
}): 'running' | 'waiting' | 'stalled' {
  const silentMs = Date.parse(run.now) - Date.parse(run.lastSeenAt);
  return run.isLeased || silentMs < stalledAfterSeconds * 1000 ? run.state : 'stalled';
}

/** How a run ends with the work that it held. */
export const outcomeMakes: Readonly<Record<Outcome, FinalRunState>> = {
  submitted: 'completed',
  succeeded: 'completed',
  failed: 'failed',
  canceled: 'canceled',
};
