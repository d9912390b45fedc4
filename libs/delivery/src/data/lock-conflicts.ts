/**
 * Finds work on files under a lock, and appends a signal about the conflict to the streams of the executions.
 */
import { type Db, type IdOrSql, orgFilter, type Query, sql } from '@muster/driver';
import { type Actor } from '@muster/contract';
import { type Caller } from '@muster/runtime';
import { appendEventsSql } from '../leases/events.ts';
import { isHeldSql } from '../leases/states-sql.ts';

/** The maximum number of executions of a project, newest first, whose files are compared with a new lock. */
const maxWatchedExecutions = 100;

/**
 * Work of another holder, with the files of its last checkpoint that share a prefix with the lock's
 * resources.
 */
export interface WorkWithTouchedFiles {
  readonly executionId: string;
  readonly files: readonly string[];
}

/**
 * Lists work of other holders that has touched files, pipelined with the statements that lock. `pathPrefixes`
 * are the prefixes of the paths that the resources can match.
 */
export function listWorkWithTouchedFiles(
  db: Db,
  caller: Caller,
  projectId: IdOrSql,
  pathPrefixes: readonly string[],
): Promise<WorkWithTouchedFiles[]> {
  return db.all(
    sql`select w.id as "executionId", f.files from (
         select e.id, e.checkpoint from executions e
         join leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
           and l.state = 'held'
         where ${orgFilter('e')} and e.project_id = ${projectId}
           and ${isHeldSql}
           and (l.member_id, l.agent_id) is distinct from
             (${caller.memberId}::uuid, ${caller.agentId}::uuid)
         order by e.id desc limit ${sql.literal(maxWatchedExecutions)}) w
       cross join lateral (select array(
         select t.path from jsonb_array_elements_text(w.checkpoint -> 'filesTouched') t(path)
         where exists (select from unnest(${pathPrefixes}::text[]) h(head) where starts_with(t.path, h.head)))
         as files) f
       where cardinality(f.files) > 0`,
  );
}

/** A signal to a holder about a lock. */
export interface LockConflictSignal {
  readonly executionId: string;
  readonly data: Record<string, unknown>;
}

/**
 * The actor of signals about expired locks. No caller ended the lock, so its holder gets the signal, even if
 * the same caller caused it.
 */
export const lockExpiryActor: Actor = { kind: 'system', memberId: null, agentId: null, name: 'system' };

/** Appends to the streams of work that has a holder. Locks executions by ID, as every transaction does. */
export const signalLockConflicts = (actor: Actor, signals: readonly LockConflictSignal[]): Query<unknown> =>
  sql`with w as materialized (
       select e.id, s.data from jsonb_to_recordset(${JSON.stringify(signals)}::jsonb) s("executionId" uuid, data jsonb)
       join executions e on ${orgFilter('e')} and e.id = s."executionId" and ${isHeldSql}
       order by e.id for no key update of e),
     u as (update executions e set last_event_seq = e.last_event_seq + 1 from w
       where ${orgFilter('e')} and e.id = w.id returning e.id, e.last_event_seq as seq, w.data)
     ${appendEventsSql(
       sql.part`(select u.id, u.seq, 'lock_conflict' as kind, u.data, clock_timestamp() as at from u)`,
       actor,
     )}`;

/**
 * Locks the execution that a lock is tied to. Lock order: the execution before its locks, as when the work
 * ends.
 */
export const lockExecutionOfLock = (db: Db, lockId: string): Promise<unknown> =>
  db.all(
    sql`select e.id from executions e where ${orgFilter('e')}
         and e.id = (select k.execution_id from locks k where ${orgFilter('k')} and k.id = ${lockId}) for no key update`,
  );
