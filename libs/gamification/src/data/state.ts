/** How far an organization's activity is counted. */
import { type DB, type Db, newId, sqlQuery } from '@muster/database';
import { type Selectable } from 'kysely';

export type State = Pick<
  Selectable<DB['gamification_state']>,
  'counted_seq' | 'state' | 'job_id' | 'synced_at'
>;

const columns = 'counted_seq, state, job_id, synced_at';

export const findState = (db: Db, orgId: string): Promise<State | undefined> =>
  db.find(sqlQuery<State>(`select ${columns} from gamification_state where org_id = $1`, [orgId]));

/** Keeps every other count, request and reset out until this transaction ends. */
export async function lockState(db: Db, orgId: string): Promise<State> {
  const [, state] = await Promise.all([
    db.all(
      sqlQuery('insert into gamification_state (org_id) values ($1) on conflict (org_id) do nothing', [
        orgId,
      ]),
    ),
    db.one(
      sqlQuery<State>(`select ${columns} from gamification_state where org_id = $1 for update`, [orgId]),
    ),
  ]);
  return state;
}

/**
 * Asks for a count under this id, unless one is asked for already or there is nothing to count. One that was asked
 * for over an hour ago and never ran is lost, whatever became of it. Answers how it stands then, and whether this
 * asked for it.
 */
export async function requestCount(
  db: Db,
  orgId: string,
  jobId: string,
): Promise<{ state: State; isAsked: boolean }> {
  const [, state] = await Promise.all([
    db.all(
      sqlQuery(
        `insert into gamification_state as g (org_id, state, job_id, requested_at) values ($1, 'queued', $2, now())
         on conflict (org_id) do update set state = 'queued', job_id = excluded.job_id, requested_at = now()
         where case g.state when 'done'
           then g.synced_at is null or g.counted_seq < (select s.activity from streams s where s.org_id = $1)
           else g.requested_at < now() - interval '1 hour' end`,
        [orgId, jobId],
      ),
    ),
    db.one(sqlQuery<State>(`select ${columns} from gamification_state where org_id = $1`, [orgId])),
  ]);
  return { state, isAsked: state.job_id === jobId };
}

/** Notes that everything up to this entry is counted, and whether there is more. */
export const setCounted = (orgId: string, seq: number, hasMore: boolean) =>
  sqlQuery(
    `update gamification_state set counted_seq = $2, state = case when $3 then 'running' else 'done' end,
       job_id = coalesce(job_id, $4),
       requested_at = case when $3 then now() else requested_at end,
       synced_at = case when $3 then synced_at else now() end
     where org_id = $1`,
    [orgId, seq, hasMore, newId()],
  );

/** Notes that whoever asked for a count gets none. */
export const setIdle = (orgId: string) =>
  sqlQuery(`update gamification_state set state = 'done' where org_id = $1 and state <> 'done'`, [orgId]);
