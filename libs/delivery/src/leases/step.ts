/** A step in the life of one execution: what the table makes of it, in all that is written. */
import { type ExecutionRow } from '../data/executions.ts';
import {
  can,
  empty,
  type ExecutionEventKind,
  type StoredState,
  type TransitionName,
  transitions,
} from './states.ts';

/** Something that its stream says. */
export interface ExecutionEvent {
  readonly kind: ExecutionEventKind;
  readonly data: Record<string, unknown>;
}

export type ExecutionChanges = Partial<
  Omit<ExecutionRow, 'id' | 'project_id' | 'target_type' | 'target_id' | 'created_at' | 'version'>
>;

export interface StepFacts {
  /** By the database's clock, read when the row was locked. */
  readonly now: string;
  /** What this transition writes besides what follows from it. */
  readonly sets?: ExecutionChanges;
  /** Of its event. */
  readonly data?: Record<string, unknown>;
  /** What the stream says before that. */
  readonly earlier?: readonly ExecutionEvent[];
  /** The holder does it: it knows what it did, and its answer tells all that came before. */
  readonly tellsHolder?: boolean;
}

export interface Step {
  readonly transition: TransitionName;
  /** The execution after it. */
  readonly row: ExecutionRow;
  /** Those of its columns that were set, but for what each write sets. */
  readonly columns: readonly (keyof ExecutionChanges)[];
  readonly events: readonly ExecutionEvent[];
}

/** What a transition makes of an execution that is locked. Whether it can be taken is asked before: here it is a fault. */
export function step(before: ExecutionRow, transition: TransitionName, facts: StepFacts): Step {
  const { now, sets = {}, data = {}, earlier = [], tellsHolder = false } = facts;
  const { event, clears, outcome, to } = transitions[transition];
  if (!can(transition, before.version === 0 ? 'none' : before.state)) {
    throw new Error(`no ${transition} of an execution that is ${before.state}`);
  }
  const events =
    event === null
      ? earlier
      : [...earlier, { kind: event, data: outcome === undefined ? data : { outcome, ...data } }];
  const lastEventSeq = before.last_event_seq + events.length;
  const changes: ExecutionChanges = {
    ...(to !== null && { state: to as StoredState }),
    ...Object.fromEntries(clears.map((column) => [column, empty[column]])),
    ...(outcome !== undefined && { outcome }),
    ...(to === 'completed' && { completed_at: now }),
    ...(tellsHolder && { told_seq: lastEventSeq }),
    ...sets,
  };
  return {
    transition,
    columns: Object.keys(changes) as (keyof ExecutionChanges)[],
    events,
    row: {
      ...before,
      ...changes,
      last_event_seq: lastEventSeq,
      updated_at: now,
      version: before.version + 1,
    },
  };
}
