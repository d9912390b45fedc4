/** Applies one transition to one execution, and computes everything that has to be written. */
import { type ExecutionChanges, type ExecutionRow } from '../data/executions.ts';
import { type NewExecutionEvent } from './events.ts';
import {
  canTransition,
  clearedValues,
  type StoredState,
  type TransitionName,
  transitions,
} from './states.ts';

export interface StepInput {
  /** The database's time when the execution was locked. */
  readonly now: string;
  /** Columns that the caller sets in addition to those of the transition. */
  readonly sets?: ExecutionChanges;
  /** The data of the transition's event. */
  readonly data?: Record<string, unknown>;
  /** The events to append before the event of the transition. */
  readonly precedingEvents?: readonly NewExecutionEvent[];
  /**
   * True if the holder makes the transition. The holder knows its own event, and the call's answer contains
   * all earlier events.
   */
  readonly isHolderAware?: boolean;
}

export interface ExecutionStep {
  readonly transition: TransitionName;
  /** The execution after the transition. */
  readonly row: ExecutionRow;
  /** The columns that changed, except those that every write sets. */
  readonly columns: readonly (keyof ExecutionChanges)[];
  readonly events: readonly NewExecutionEvent[];
}

/**
 * Returns the result of a transition of a locked execution. Callers check beforehand that the transition is
 * possible, so an impossible transition is a programming error.
 */
export function applyTransition(
  current: ExecutionRow,
  transition: TransitionName,
  input: StepInput,
): ExecutionStep {
  const { now, sets = {}, data = {}, precedingEvents = [], isHolderAware = false } = input;
  const { event, clears, outcome, to } = transitions[transition];
  if (!canTransition(transition, current.version === 0 ? 'none' : current.state))
    throw new Error(`the transition ${transition} is not possible in the state ${current.state}`);
  const events =
    event === null
      ? precedingEvents
      : [...precedingEvents, { kind: event, data: outcome === undefined ? data : { outcome, ...data } }];
  const lastEventSeq = current.last_event_seq + events.length;
  const changes: ExecutionChanges = {
    ...(to !== null && { state: to as StoredState }),
    ...Object.fromEntries(clears.map((column) => [column, clearedValues[column]])),
    ...(outcome !== undefined && { outcome }),
    ...(to === 'completed' && { completed_at: now }),
    ...(isHolderAware && { told_seq: lastEventSeq }),
    ...sets,
  };
  return {
    transition,
    columns: Object.keys(changes) as (keyof ExecutionChanges)[],
    events,
    row: {
      ...current,
      ...changes,
      last_event_seq: lastEventSeq,
      updated_at: now,
      version: current.version + 1,
    },
  };
}
