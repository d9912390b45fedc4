/**
 * Reads the facts that decide if a lock can be granted. A row lock, which is taken first, serializes the
 * grants of a project.
 */
import { type Db, type IdOrSql, orgFilter, type Part, type Query, sql } from '@muster/driver';
import { type Caller, pathNotFound, projectsVisibleTo } from '@muster/runtime';
import { storyIdSql } from '@muster/tenancy';
import { type Holder } from '../rules/acquire.ts';
import { type LockClaim } from '../rules/lock-resources.ts';
import { isHeldSql } from '../leases/states-sql.ts';
import { readClock } from './leases.ts';
import { isExpiredExecutionLockSql, isLiveLockSql, lockColumnList, type LockRow } from './locks.ts';

/** A lock of another holder, with the columns needed to compare it. */
export interface OtherHolderLock extends LockClaim {
  readonly id: string;
}

/** An expired lock that its work may still renew. */
export interface ExpiredExecutionLock extends OtherHolderLock {
  readonly executionId: string;
}

/** The project's counter, with its newest fencing token. */
export interface FencingCounter {
  readonly project_id: string;
  readonly fencing_token: number;
}

/** A record that a lock refers to. */
interface LinkedRecord {
  readonly id: string;
  readonly project_id: string;
}

export interface LinkedExecution extends LinkedRecord {
  /**
   * True if the caller holds the lease, live or expired. As in all calls of holders, the time does not
   * matter.
   */
  readonly held: boolean;
  readonly epoch: number;
  /** The lease's expiry; null without a holder. */
  readonly leaseExpiresAt: string | null;
}

export interface LockGrantState {
  readonly counter: FencingCounter;
  readonly execution: LinkedExecution | undefined;
  readonly story: LinkedRecord | undefined;
  /** The locks of the calling holder, live or expired. */
  readonly own: readonly LockRow[];
  /** The live locks of others. */
  readonly others: readonly OtherHolderLock[];
  /**
   * Expired locks of work. They block no caller, and their work is locked, so no renewal of it is in
   * progress.
   */
  readonly lapsed: readonly ExpiredExecutionLock[];
  /**
   * The database's time after all of these reads. A lock that is granted now therefore begins after the
   * expired locks ended.
   */
  readonly now: string;
}

interface LockGrantRequest {
  readonly projectId: IdOrSql;
  readonly holder: Holder;
  readonly executionId: string | undefined;
  readonly storyRef: string | undefined;
  /** True for a dry run. Nothing is written or locked, and no other caller has to wait. */
  readonly dryRun: boolean;
}

/**
 * Reads all facts about a grant in one round trip. Grants of a project are serialized. The work that the call
 * names is locked, so that no lock outlives it. Work with expired locks is locked, too, because its holder
 * may be renewing these locks.
 */
export async function lockForGrant(
  db: Db,
  caller: Caller,
  request: LockGrantRequest,
): Promise<LockGrantState> {
  const { projectId, executionId, storyRef, dryRun } = request;
  const [, counter, , execution, story, own, others, now] = await Promise.all([
    dryRun ? undefined : db.all(insertFencingCounter(projectId)),
    db.find(fencingCounterQuery(projectId, dryRun)),
    dryRun ? undefined : db.all(lockExecutionsQuery(request)),
    executionId === undefined ? undefined : db.find(linkedExecutionQuery(caller, executionId)),
    storyRef === undefined ? undefined : db.find(visibleStoryQuery(caller, storyRef)),
    db.all(ownLocksQuery(request)),
    db.all(otherLocksQuery(request)),
    readClock(db),
  ]);
  if (counter === undefined) throw pathNotFound('projectId');
  if (executionId !== undefined && execution === undefined) throw pathNotFound('executionId');
  if (storyRef !== undefined && story === undefined) throw pathNotFound('storyId');
  const lapsed = others.filter((lock) => lock.lapsed);
  return { counter, execution, story, own, others: others.filter((lock) => !lock.lapsed), lapsed, now };
}

function insertFencingCounter(projectId: IdOrSql): Query<unknown> {
  return sql`insert into lock_counters (org_id, project_id)
     select p.org_id, p.id from projects p where ${orgFilter('p')} and p.id = ${projectId}
     on conflict do nothing`;
}

function fencingCounterQuery(projectId: IdOrSql, dryRun: boolean): Query<FencingCounter> {
  return dryRun
    ? sql`select p.id as project_id, 0 as fencing_token from projects p where ${orgFilter('p')} and p.id = ${projectId}`
    : sql`select c.project_id, c.fencing_token from lock_counters c
         where ${orgFilter('c')} and c.project_id = ${projectId} for no key update`;
}

/**
 * Locks the executions before their leases and locks are read. A caller who ends, takes over or renews the
 * work locks the same row and writes its locks afterwards. One of the two therefore sees the other's changes.
 */
function lockExecutionsQuery({ projectId, executionId }: LockGrantRequest): Query<unknown> {
  const tied = executionId === undefined ? sql.empty : sql.part`e.id = ${executionId}::uuid or`;
  return sql`select e.id from executions e
     where ${orgFilter('e')} and (${tied} e.id = any (array(
       select k.execution_id from locks k
       where ${orgFilter('k')} and k.project_id = ${projectId} and ${isExpiredExecutionLockSql})))
     order by e.id /*guard: the work of lapsed locks is held*/for no key update/*end*/`;
}

function linkedExecutionQuery(caller: Caller, executionId: string): Query<LinkedExecution> {
  return sql`select e.id, e.project_id, coalesce(l.epoch, 0) as epoch, l.expires_at as "leaseExpiresAt",
       coalesce(${isHeldSql} and l.state = 'held' and l.epoch = e.epoch
         and l.member_id = ${caller.memberId}::uuid
         and l.agent_id is not distinct from ${caller.agentId}::uuid, false) as held
     from executions e
     join ${projectsVisibleTo(caller)} v on v.project_id = e.project_id
     left join leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
     where ${orgFilter('e')} and e.id = ${executionId}::uuid`;
}

function visibleStoryQuery(caller: Caller, storyRef: string): Query<LinkedRecord> {
  return sql`select s.id, s.project_id from stories s join ${projectsVisibleTo(caller)} v on v.project_id = s.project_id
     where ${orgFilter('s')} and s.id = ${storyIdSql(storyRef)}`;
}

const isOwnLockSql = ({ memberId, agentId, runId }: Holder): Part =>
  sql.part`(k.member_id = ${memberId}::uuid and k.agent_id is not distinct from ${agentId}::uuid
    and k.run_id is not distinct from ${runId}::text)`;

/**
 * Reads the holder's locks and locks their rows. They may be passing to another holder, to whom the work was
 * offered.
 */
function ownLocksQuery({ projectId, holder, dryRun }: LockGrantRequest): Query<LockRow> {
  return sql`select ${lockColumnList} from locks k
     where ${orgFilter('k')} and k.project_id = ${projectId} and (${isLiveLockSql} or ${isExpiredExecutionLockSql})
       and ${isOwnLockSql(holder)} order by k.id ${dryRun ? sql.empty : sql.part`for no key update`}`;
}

/**
 * Reads the file locks of others. A file lock whose lease expires at this moment still counts as live: the
 * row of that lease is not locked here, so a renewal may be in progress.
 */
function otherLocksQuery({
  projectId,
  holder,
}: LockGrantRequest): Query<ExpiredExecutionLock & { readonly lapsed: boolean }> {
  return sql`select k.id, k.mode, k.resources, k.execution_id as "executionId", ${isExpiredExecutionLockSql} as lapsed from locks k
     where ${orgFilter('k')} and k.project_id = ${projectId}
       and (${isLiveLockSql} or k.execution_id is not null)
       and not ${isOwnLockSql(holder)} order by k.id`;
}

/** Stores the fencing token of a grant, the highest of its project. */
export const storeFencingToken = ({ project_id: projectId, fencing_token: token }: FencingCounter) =>
  sql`update lock_counters set fencing_token = ${token} where ${orgFilter()} and project_id = ${projectId}`;

/**
 * Deletes expired locks. Locks of an execution stay until it ends. Rows that another transaction has locked
 * are skipped, so this statement never waits.
 */
export const deleteExpiredLocks = (projectId: string): Query<unknown> =>
  sql`delete from locks where ${orgFilter()} and id in (
       select k.id from locks k where ${orgFilter('k')} and k.project_id = ${projectId} and not (${isLiveLockSql}) and k.execution_id is null
       order by k.id limit 1000 for update skip locked)`;
