/** Executions as stored rows and as API records. */
import {
  type Db,
  type IdOrSql,
  orgFilter,
  currentOrgId,
  type Part,
  type Query,
  defineRecord,
  type RowOf,
  sql,
} from '@muster/driver';
import { type Actor, type Execution, type ExecutionTarget } from '@muster/contract';
import { noAgentId } from '@muster/tenancy';
import { type Holder } from '../rules/acquire.ts';
import { appendEventsSql, type NewExecutionEvent } from '../leases/events.ts';
import { isHeldState, visibleState } from '../leases/states.ts';
import { clockColumn, fenceSql, leaseJson, type LeaseRow, toLease } from './leases.ts';

const executions = defineRecord('executions', 'e', {
  project_id: {},
  target_type: {},
  target_id: {},
  state: {},
  phase: {},
  progress: {},
  attempt: {},
  spec_version: {},
  epoch: { hidden: true },
  run_id: {},
  device_id: {},
  offer: {},
  waiting_for: {},
  checkpoint: {},
  checkpoint_seq: { hidden: true },
  git: {},
  pull_request: {},
  outcome: {},
  failure: {},
  summary: {},
  needs_rework: {},
  rework: {},
  stop_requested: {},
  forge: { hidden: true },
  merged_at: { hidden: true },
  merge_verified_at: { hidden: true },
  last_event_seq: {},
  told_seq: { hidden: true },
  completed_at: {},
});
export type ExecutionRow = RowOf<typeof executions>;
export const executionColumnList = executions.list;

/** The columns that a transition may change. */
export type ExecutionChanges = Partial<
  Omit<ExecutionRow, 'id' | 'project_id' | 'target_type' | 'target_id' | 'created_at' | 'version'>
>;

/**
 * Returns the API record. It shows the target's lease only if this execution holds the lease, and not if
 * another execution of the target does.
 */
export function toExecution(row: ExecutionRow, lease: LeaseRow | undefined, now: string): Execution {
  const shownLease = isHeldState(row.state) ? toLease(lease) : null;
  const state = visibleState(row.state, {
    now,
    leaseExpiresAt: shownLease?.expiresAt ?? null,
    offerExpiresAt: row.offer?.expiresAt ?? null,
  });
  const { stop_requested: stop, waiting_for: questionId } = row;
  return {
    ...executions.shown(row),
    state,
    lease: shownLease,
    offer: state === 'offered' ? row.offer : null,
    waitingFor: questionId === null ? null : { questionId },
    stopRequested: stop === null ? null : { by: stop.by, reason: stop.reason, at: stop.at },
  };
}

/** An execution with the lease of its target, and the time at which both were read. */
export interface LeasedExecution {
  readonly execution: ExecutionRow;
  readonly lease: LeaseRow | undefined;
  readonly now: string;
}

export interface ExecutionWithLeaseRow extends ExecutionRow {
  readonly lease: LeaseRow | null;
  readonly now: string;
}

export const toLeasedExecution = ({ lease, now, ...execution }: ExecutionWithLeaseRow): LeasedExecution => ({
  execution,
  // The lease comes as JSON, so its hashes are texts and not bytes. Readers do not need the hashes.
  lease: lease === null ? undefined : lease,
  now,
});

const targetUnit = {
  type: sql.part`e.target_type`,
  id: sql.part`e.target_id`,
};
/** The type and the ID of an execution's target, as columns of the row that is updated. */
const updatedTargetUnit = {
  type: sql.part`executions.target_type`,
  id: sql.part`executions.target_id`,
};

export const executionWithLeaseColumns = sql.part`${executionColumnList}, ${leaseJson(targetUnit)} as lease, ${clockColumn}`;

export async function getExecution(db: Db, executionId: string): Promise<LeasedExecution> {
  return toLeasedExecution(
    await db.get(
      sql<ExecutionWithLeaseRow>`select ${executionWithLeaseColumns} from executions e where ${orgFilter('e')} and e.id = ${executionId}`,
    ),
  );
}

/** Returns SQL for the id of the target's open execution, else of its newest one. */
export const newestExecutionSql = (targetType: ExecutionTarget, targetId: IdOrSql): Part =>
  sql.part`(select x.id from executions x where ${orgFilter('x')} and x.target_type = ${targetType}
    and x.target_id = ${targetId} order by x.id desc limit 1)`;

/**
 * Finds the target's open execution, else its newest one; undefined if there is none. The caller checks that
 * the target exists.
 */
export async function findExecutionForTarget(
  db: Db,
  targetType: ExecutionTarget,
  targetId: IdOrSql,
): Promise<LeasedExecution | undefined> {
  const row = await db.find(
    sql<ExecutionWithLeaseRow>`select ${executionWithLeaseColumns} from executions e
       where ${orgFilter('e')} and e.id = ${newestExecutionSql(targetType, targetId)}`,
  );
  return row === undefined ? undefined : toLeasedExecution(row);
}

/**
 * Returns the events to append for the updated row `x`. The last of the events has the number
 * `x.last_event_seq`.
 */
const newEventsSql = ({ row, events }: Pick<ExecutionWrite, 'row' | 'events'>): Part => {
  const list = events.map(({ kind, data }, index) => ({ ord: index + 1, kind, data }));
  return sql.part`(select ${row.id}::uuid as id, x.last_event_seq - ${events.length}::int + d.ord as seq, d.kind, d.data,
      ${row.updated_at}::timestamptz as at
    from x, jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as d(ord int, kind text, data jsonb))`;
};

/** The changes to write: some columns, and events of the stream. */
interface ExecutionWrite {
  readonly row: ExecutionRow;
  readonly columns: readonly (keyof ExecutionChanges)[];
  readonly events: readonly NewExecutionEvent[];
}

/**
 * Writes columns of a locked execution and appends to its stream, in one statement. With `grant` it does so
 * only while that grant is the newest and held. The holder's write and its check are therefore atomic.
 */
export function updateExecution(
  { row, columns, events }: ExecutionWrite,
  actor: Actor,
  grant?: { readonly epoch: number; readonly tokenHash: Buffer },
): Query<unknown> {
  const fence = grant === undefined ? sql.empty : sql.part`and ${fenceSql(updatedTargetUnit, grant)}`;
  const change = sql.part`${sql.update('executions', columns, row)},
    updated_at = ${row.updated_at}, version = executions.version + 1`;
  const where = sql.part`where ${orgFilter('executions')} and executions.id = ${row.id} ${fence}`;
  // A plain renewal has no events, so it avoids the cost of appending them.
  if (events.length === 0) return sql`${change} ${where}`;
  return sql`with x as (${change}, last_event_seq = executions.last_event_seq
      + /*guard: each event has one number*/${events.length}::int/*end*/
      ${where} returning last_event_seq)
    ${appendEventsSql(newEventsSql({ row, events }), actor)}`;
}

/**
 * Reports, without a lock, whether a claim may be the newest grant. False is final, because a claim never
 * becomes valid later.
 */
export const mightHoldLease = async (
  db: Db,
  executionId: string,
  claim: { readonly epoch: number; readonly tokenHash: Buffer },
): Promise<boolean> =>
  (await db.find(
    sql`select e.id from executions e where ${orgFilter('e')} and e.id = ${executionId}
         and ${fenceSql(targetUnit, claim)}`,
  )) !== undefined;

/** Inserts an execution with the first events of its stream. */
export function insertExecution(
  { row, events }: Pick<ExecutionWrite, 'row' | 'events'>,
  actor: Actor,
): Query<unknown> {
  return sql`with x as (${executions.insert(row)} returning last_event_seq)
    ${appendEventsSql(newEventsSql({ row, events }), actor)}`;
}

/**
 * Records the holder as a contributor, with the attempt of its newest grant. Each holder counts as an author.
 */
export const addContributor = (
  executionId: string,
  holder: { readonly memberId: string; readonly agentId: string | null },
  attempt: number,
): Query<unknown> =>
  sql`insert into execution_contributors (org_id, execution_id, member_id, agent_id, attempt)
     values (${currentOrgId}, ${executionId}, ${holder.memberId}, ${holder.agentId ?? noAgentId}, ${attempt})
     on conflict (org_id, execution_id, member_id, agent_id) do update set attempt = excluded.attempt
       where execution_contributors.attempt < excluded.attempt`;

/** Frees the locks taken for the work. */
export const freeLocksOfExecution = (executionId: string): Query<unknown> =>
  sql`delete from locks where ${orgFilter()} and /*guard: locks end with their work*/execution_id = ${executionId}/*end*/`;

/**
 * Frees the locks that the run took without naming any work, in the order of their grants. A completion ends
 * the run.
 */
export const freeLocksOfRun = (projectId: string, { memberId, agentId, runId }: Holder): Query<unknown> =>
  sql`delete from locks where ${orgFilter()} and id in (
       select k.id from locks k where ${orgFilter('k')} and k.project_id = ${projectId} and k.member_id = ${memberId}
         and k.agent_id is not distinct from ${agentId}::uuid and k.run_id = ${runId} and k.execution_id is null
       order by k.id for update)`;
