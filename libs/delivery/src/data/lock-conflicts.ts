/** Who works on files that a lock is about, and how they hear of it: in the stream of their execution. */
import { type Db, type Query, sqlQuery, Values } from '@muster/database';
import { type Actor } from '@muster/registry';
import { type Caller } from '@muster/runtime';

/** The newest so many works of a project are looked at. */
const mostWatched = 100;

/** Work of another holder, with the files of its last checkpoint that begin as one of the resources does. */
export interface TouchedWork {
  readonly executionId: string;
  readonly files: readonly string[];
}

/** Rides with the statements that lock. `heads` is how the paths begin that the resources can match. */
export function listTouchedWork(
  db: Db,
  caller: Caller,
  projectRef: string,
  heads: readonly string[],
): Promise<TouchedWork[]> {
  const values = new Values(caller.orgId);
  return db.all(
    sqlQuery(
      `select w.id as "executionId", f.files from (
         select e.id, e.checkpoint from executions e
         join leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
           and l.state = 'held'
         where e.org_id = ${values.org} and e.project_id = ${values.projectId(projectRef)}
           and e.state in ('leased', 'waiting_input')
           and (l.member_id, l.agent_id) is distinct from
             (${values.uuid(caller.memberId)}, ${values.$(caller.agentId)}::uuid)
         order by e.id desc limit ${mostWatched}) w
       cross join lateral (select array(
         select t.path from jsonb_array_elements_text(w.checkpoint -> 'filesTouched') t(path)
         where exists (select from unnest(${values.$(heads)}::text[]) h(head) where starts_with(t.path, h.head)))
         as files) f
       where cardinality(f.files) > 0`,
      values.list,
    ),
  );
}

/** What a holder is told about a lock. */
export interface LockConflictSignal {
  readonly executionId: string;
  readonly data: Record<string, unknown>;
}

/** Appends to the streams of work that somebody holds; executions by id, as everybody locks them. */
export const signalLockConflicts = (
  orgId: string,
  actor: Actor,
  signals: readonly LockConflictSignal[],
): Query<unknown> =>
  sqlQuery(
    `with w as materialized (
       select e.id, s.data from jsonb_to_recordset($3::jsonb) s("executionId" uuid, data jsonb)
       join executions e on e.org_id = $1 and e.id = s."executionId" and e.state in ('leased', 'waiting_input')
       order by e.id for no key update of e),
     u as (update executions e set last_event_seq = e.last_event_seq + 1 from w
       where e.org_id = $1 and e.id = w.id returning e.id, e.last_event_seq as seq, w.data)
     insert into execution_events (org_id, execution_id, seq, kind, actor, data, at)
     select $1, u.id, u.seq, 'lock_conflict', $2, u.data, clock_timestamp() from u`,
    [orgId, actor, JSON.stringify(signals)],
  );

/** Locks the work that a lock is tied to, before the lock itself, as its end does. */
export const lockExecutionOf = (db: Db, orgId: string, lockId: string): Promise<unknown> =>
  db.all(
    sqlQuery(
      `select e.id from executions e where e.org_id = $1
         and e.id = (select k.execution_id from locks k where k.org_id = $1 and k.id = $2) for no key update`,
      [orgId, lockId],
    ),
  );
