/**
 * SQL fragments derived from the table of transitions. Each is built once, because it is the same in every
 * call.
 */
import { type Part, sql } from '@muster/driver';
import {
  type clearedValues,
  storedSourceStates,
  type StoredState,
  type TransitionName,
  transitions,
} from './states.ts';

const stateLiterals: Readonly<Record<StoredState, Part>> = {
  available: sql.part`'available'`,
  leased: sql.part`'leased'`,
  waiting_input: sql.part`'waiting_input'`,
  offered: sql.part`'offered'`,
  submitted: sql.part`'submitted'`,
  completed: sql.part`'completed'`,
};
const isStoredState = (state: string): state is StoredState => state in stateLiterals;
export const storedStates = Object.keys(stateLiterals).filter(isStoredState);

/**
 * Returns the condition that execution `e` has this stored state. The state is a literal: with a parameter
 * the planner could not estimate the number of rows.
 */
export const isInStateSql = (state: StoredState): Part => sql.part`e.state = ${stateLiterals[state]}`;

const clearColumnSql: Readonly<Record<keyof typeof clearedValues, Part>> = {
  offer: sql.part`offer = null`,
  waiting_for: sql.part`waiting_for = null`,
  stop_requested: sql.part`stop_requested = null`,
  outcome: sql.part`outcome = null`,
  failure: sql.part`failure = null`,
  needs_rework: sql.part`needs_rework = false`,
  rework: sql.part`rework = null`,
};

/** Returns the condition that execution `e` can take the transition. */
export const canTransitionSql = (transition: TransitionName): Part =>
  sql.part`e.state in (${sql.join(storedSourceStates(transition).flatMap((state) => (isStoredState(state) ? stateLiterals[state] : [])))})`;

/** The condition that execution `e` has a holder, whose lease may be expired. */
export const isHeldSql = canTransitionSql('renew');

/**
 * The condition that execution `e` is not completed. It repeats the partial index's condition literally, so
 * that the planner can use that index.
 */
export const isOpenSql = sql.part`e.state <> 'completed'`;

const inProgressStates = Object.entries(stateLiterals).filter(
  ([state]) => state !== 'available' && state !== 'completed',
);

/** The condition that execution `e` is in progress: held, offered or submitted. */
export const isInProgressSql = sql.part`e.state in (${sql.join(inProgressStates.map(([, name]) => name))})`;

/**
 * Returns SQL for the state of execution `e` that readers see at `now`. `shownState` computes the same for
 * one row.
 */
export const visibleStateSql = (leaseExpiresAt: Part, now: Part): Part =>
  sql.part`app.shown_state(e.state, ${leaseExpiresAt}, (e.offer ->> 'expiresAt')::timestamptz, ${now})`;

/** Returns the assignments of a transition that are the same for every execution `e`. */
export function transitionAssignmentsSql(transition: TransitionName): Part {
  const { to, clears, outcome } = transitions[transition];
  return sql.join([
    ...(to !== null && isStoredState(to) ? [sql.part`state = ${stateLiterals[to]}`] : []),
    ...clears.map((column) => clearColumnSql[column]),
    ...(outcome === undefined ? [] : [sql.part`outcome = ${outcome}`]),
    ...(to === 'completed' ? [sql.part`completed_at = clock_timestamp()`] : []),
    sql.part`updated_at = now()`,
    sql.part`version = e.version + 1`,
  ]);
}
