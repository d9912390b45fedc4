/** Executions as they are stored, and as readers see them. */
import { type Db, type DB, type Query, sqlQuery, Values } from '@muster/database';
import { type Actor, type Execution, type ExecutionTarget } from '@muster/registry';
import { notFound } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { type Holder } from '../rules/acquire.ts';
import { shownState } from '../rules/execution-states.ts';
import { targetIdSql } from './targets.ts';
import { clock, fencedBy, leaseJson, type LeaseRow, toLease } from './leases.ts';

export type ExecutionRow = Omit<Selectable<DB['executions']>, 'org_id'>;

const executionColumns = [
  'id',
  'project_id',
  'target_type',
  'target_id',
  'state',
  'phase',
  'progress',
  'attempt',
  'spec_version',
  'epoch',
  'run_id',
  'device_id',
  'offer',
  'waiting_for',
  'checkpoint',
  'checkpoint_seq',
  'git',
  'pull_request',
  'outcome',
  'failure',
  'summary',
  'needs_rework',
  'stop_requested',
  'forge',
  'merged_at',
  'last_event_seq',
  'told_seq',
  'created_at',
  'updated_at',
  'completed_at',
  'version',
] as const satisfies readonly (keyof ExecutionRow)[];

export const executionList = executionColumns.map((column) => `e.${column}`).join(', ');

/** An execution with the lease of its target. A lease that is another execution's of the same target is not its own. */
export function toExecution(row: ExecutionRow, lease: LeaseRow | undefined, now: string): Execution {
  const isHeld = row.state === 'leased' || row.state === 'waiting_input';
  const shownLease = isHeld ? toLease(lease) : null;
  const state = shownState(row.state, {
    now,
    leaseExpiresAt: shownLease?.expiresAt ?? null,
    offerExpiresAt: row.offer?.expiresAt ?? null,
  });
  return {
    id: row.id,
    projectId: row.project_id,
    targetType: row.target_type,
    targetId: row.target_id,
    state,
    phase: row.phase,
    progress: row.progress,
    attempt: row.attempt,
    specVersion: row.spec_version,
    lease: shownLease,
    offer: state === 'offered' ? row.offer : null,
    waitingFor: row.waiting_for === null ? null : { questionId: row.waiting_for },
    checkpoint: row.checkpoint,
    git: row.git,
    deviceId: row.device_id,
    runId: row.run_id,
    outcome: row.outcome,
    failure: row.failure,
    summary: row.summary,
    pullRequest: row.pull_request,
    needsRework: row.needs_rework,
    stopRequested:
      row.stop_requested === null
        ? null
        : { by: row.stop_requested.by, reason: row.stop_requested.reason, at: row.stop_requested.at },
    lastEventSeq: row.last_event_seq,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    completedAt: row.completed_at,
    version: row.version,
  };
}

/** An execution and the lease of its target, with the time at which they were read. */
export interface Found {
  readonly execution: ExecutionRow;
  readonly lease: LeaseRow | undefined;
  readonly now: string;
}

interface FoundRow extends ExecutionRow {
  readonly lease: LeaseRow | null;
  readonly now: string;
}

const found = ({ lease, now, ...execution }: FoundRow): Found => ({
  execution,
  // What comes as JSON has no bytes; a reader needs none.
  lease: lease === null ? undefined : lease,
  now,
});

const unitOfTarget = { org: 'e.org_id', type: 'e.target_type', id: 'e.target_id' } as const;

const foundColumns = `${executionList}, ${leaseJson(unitOfTarget)} as lease, ${clock}`;

export async function getExecution(db: Db, orgId: string, executionId: string): Promise<Found> {
  const row = await db.find(
    sqlQuery<FoundRow>(`select ${foundColumns} from executions e where e.org_id = $1 and e.id = $2`, [
      orgId,
      executionId,
    ]),
  );
  if (row === undefined) throw notFound();
  return found(row);
}

/** The one that is not completed, else the last; undefined where nobody ever worked on it. The target is there. */
export async function findForTarget(
  db: Db,
  orgId: string,
  targetType: ExecutionTarget,
  ref: string,
): Promise<Found | undefined> {
  const values = new Values(orgId);
  const row = await db.find(
    sqlQuery<FoundRow>(
      `select ${foundColumns} from executions e
       where e.org_id = ${values.org} and e.target_type = ${values.$(targetType)}
         and e.target_id = ${targetIdSql(values, targetType, ref)} order by e.id desc limit 1`,
      values.list,
    ),
  );
  return row === undefined ? undefined : found(row);
}

/** What happens to an execution, in the words of its stream. */
export interface Deed {
  readonly kind: string;
  readonly data: Record<string, unknown>;
}

export type ExecutionChanges = Partial<
  Omit<ExecutionRow, 'id' | 'project_id' | 'target_type' | 'target_id' | 'created_at' | 'version'>
>;

/** The row after these changes and so many events. Whoever makes events has been told of all before them. */
export const changedExecution = (
  row: ExecutionRow,
  changes: ExecutionChanges,
  now: string,
  deeds: readonly Deed[],
): ExecutionRow => ({
  ...row,
  ...changes,
  last_event_seq: row.last_event_seq + deeds.length,
  updated_at: now,
  version: row.version + 1,
});

const eventsFromRow = `insert into execution_events (org_id, execution_id, seq, kind, actor, data, at)
  select $1, $2, x.last_event_seq - n.total + d.ord, d.kind, $3, d.data, $4
  from x, jsonb_to_recordset($5::jsonb) as d(ord int, kind text, data jsonb), (select jsonb_array_length($5::jsonb) as total) n`;

const numbered = (deeds: readonly Deed[]): string =>
  JSON.stringify(deeds.map(({ kind, data }, index) => ({ ord: index + 1, kind, data })));

/**
 * Writes the columns of a locked execution and appends to its stream, in one statement. With `epoch` and `tokenHash` it
 * does so only while that grant is the newest and held: a holder's write and its check cannot come apart.
 */
export function setExecution(
  orgId: string,
  row: ExecutionRow,
  columns: readonly (keyof ExecutionChanges)[],
  actor: Actor,
  deeds: readonly Deed[],
  grant?: { readonly epoch: number; readonly tokenHash: Buffer },
): Query<unknown> {
  // A renewal has nothing to say, and pays for no table of events.
  const told = deeds.length > 0;
  const parameters: unknown[] = told
    ? [orgId, row.id, actor, row.updated_at, numbered(deeds)]
    : [orgId, row.id];
  const put = (value: unknown): string => `$${parameters.push(value)}`;
  const assignments = columns.map((column) => `${column} = ${put(row[column])}`);
  assignments.push(`updated_at = ${told ? '$4' : put(row.updated_at)}`, 'version = version + 1');
  const fence =
    grant === undefined
      ? ''
      : `and ${fencedBy(unitOfTarget, { epoch: put(grant.epoch), tokenHash: put(grant.tokenHash) })}`;
  const change = `update executions e set ${assignments.join(', ')}`;
  const where = `where e.org_id = $1 and e.id = $2 ${fence}`;
  return sqlQuery(
    told
      ? `with x as (${change}, last_event_seq = last_event_seq + jsonb_array_length($5::jsonb) ${where} returning last_event_seq)
         ${eventsFromRow}`
      : `${change} ${where}`,
    parameters,
  );
}

/** Whether a claim may be the newest grant, seen without a lock. A no is for good: no claim comes to hold later. */
export const mayHold = async (
  db: Db,
  orgId: string,
  executionId: string,
  claim: { readonly epoch: number; readonly tokenHash: Buffer },
): Promise<boolean> =>
  (await db.find(
    sqlQuery(
      `select e.id from executions e where e.org_id = $1 and e.id = $2
         and ${fencedBy(unitOfTarget, { epoch: '$3', tokenHash: '$4' })}`,
      [orgId, executionId, claim.epoch, claim.tokenHash],
    ),
  )) !== undefined;

/** A new execution with the first events of its stream. */
export function insertExecution(
  orgId: string,
  row: ExecutionRow,
  actor: Actor,
  deeds: readonly Deed[],
): Query<unknown> {
  const parameters: unknown[] = [orgId, row.id, actor, row.updated_at, numbered(deeds)];
  const written = executionColumns.filter((column) => column !== 'id');
  const places = written.map((column) => `$${parameters.push(row[column])}`);
  return sqlQuery(
    `with x as (insert into executions (org_id, id, ${written.join(', ')})
       values ($1, $2, ${places.join(', ')}) returning last_event_seq)
     ${eventsFromRow}`,
    parameters,
  );
}

/** Who works on it counts among its authors. */
export const addContributor = (
  orgId: string,
  executionId: string,
  by: { readonly memberId: string; readonly agentId: string | null },
  attempt: number,
): Query<unknown> =>
  sqlQuery(
    `insert into execution_contributors (org_id, execution_id, member_id, agent_id, attempt)
     values ($1, $2, $3, coalesce($4::uuid, '00000000-0000-0000-0000-000000000000'), $5) on conflict do nothing`,
    [orgId, executionId, by.memberId, by.agentId, attempt],
  );

/** The locks that were taken for the work are freed with it. */
export const freeLocksOf = (orgId: string, executionId: string): Query<unknown> =>
  sqlQuery('delete from locks where org_id = $1 and execution_id = $2', [orgId, executionId]);

/** A completion ends the run: what it locked for no work in particular is freed with it, in the order of grants. */
export const freeLocksOfRun = (
  orgId: string,
  projectId: string,
  { memberId, agentId, runId }: Holder,
): Query<unknown> =>
  sqlQuery(
    `delete from locks where org_id = $1 and id in (
       select k.id from locks k where k.org_id = $1 and k.project_id = $2 and k.member_id = $3
         and k.agent_id is not distinct from $4::uuid and k.run_id = $5 and k.execution_id is null
       order by k.id for update)`,
    [orgId, projectId, memberId, agentId, runId],
  );
