/** What the table of transitions says, as parts of statements. Each is made once: it is the same in every call. */
import { type Part, sql } from '@muster/driver';
import { type empty, storedFrom, type StoredState, type TransitionName, transitions } from './states.ts';

const stored: Readonly<Record<StoredState, Part>> = {
  available: sql.part`'available'`,
  leased: sql.part`'leased'`,
  waiting_input: sql.part`'waiting_input'`,
  offered: sql.part`'offered'`,
  submitted: sql.part`'submitted'`,
  completed: sql.part`'completed'`,
};
const isStored = (state: string): state is StoredState => state in stored;
export const storedStates = Object.keys(stored).filter(isStored);

/** The work `e` is stored in this state: by name, since of a parameter the planner knows not how many have it. */
export const isInState = (state: StoredState): Part => sql.part`e.state = ${stored[state]}`;

const cleared: Readonly<Record<keyof typeof empty, Part>> = {
  offer: sql.part`offer = null`,
  waiting_for: sql.part`waiting_for = null`,
  stop_requested: sql.part`stop_requested = null`,
  outcome: sql.part`outcome = null`,
  failure: sql.part`failure = null`,
  needs_rework: sql.part`needs_rework = false`,
  rework: sql.part`rework = null`,
};

/** The row `e` of executions can take the transition. */
export const canSql = (transition: TransitionName): Part =>
  sql.part`e.state in (${sql.join(storedFrom(transition).flatMap((state) => (isStored(state) ? stored[state] : [])))})`;

/** The work `e` is held, live or past its time. */
export const isHeldSql = canSql('renew');

/** The work `e` is not over. As the index says it, which knows no other way. */
export const isOpenSql = sql.part`e.state <> 'completed'`;

const takenUp = Object.entries(stored).filter(([state]) => state !== 'available' && state !== 'completed');

/** The work `e` is on its way: it is held, was offered or was handed in. */
export const isTakenUpSql = sql.part`e.state in (${sql.join(takenUp.map(([, name]) => name))})`;

/** SQL for the state that readers see of the work `e` at this time, as `shownState` says it of one. */
export const shownStateSql = (leaseExpiresAt: Part, now: Part): Part =>
  sql.part`app.shown_state(e.state, ${leaseExpiresAt}, (e.offer ->> 'expiresAt')::timestamptz, ${now})`;

/** What a transition sets that is the same for every execution `e`. */
export function assignmentsOf(transition: TransitionName): Part {
  const { to, clears, outcome } = transitions[transition];
  return sql.join([
    ...(to !== null && isStored(to) ? [sql.part`state = ${stored[to]}`] : []),
    ...clears.map((column) => cleared[column]),
    ...(outcome === undefined ? [] : [sql.part`outcome = ${outcome}`]),
    ...(to === 'completed' ? [sql.part`completed_at = clock_timestamp()`] : []),
    sql.part`updated_at = now()`,
    sql.part`version = e.version + 1`,
  ]);
}
