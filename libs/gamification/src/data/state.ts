/** The progress of counting an organization's activity. */
import { type DB, type Db, newId, orgFilter, currentOrgId, sql } from '@muster/driver';
import { type Selectable } from 'kysely';

export type CountingState = Pick<
  Selectable<DB['gamification_state']>,
  'counted_seq' | 'state' | 'job_id' | 'synced_at'
>;

const stateColumns = sql.part`counted_seq, state, job_id, synced_at`;

export const findCountingState = (db: Db): Promise<CountingState | undefined> =>
  db.find(sql<CountingState>`select ${stateColumns} from gamification_state where ${orgFilter()}`);

/**
 * Locks the state of the organization's points against other counts, requests and resets until this
 * transaction ends.
 */
export async function lockCountingState(db: Db): Promise<CountingState> {
  const [, state] = await Promise.all([
    db.all(
      sql`insert into gamification_state (org_id) values (${currentOrgId}) on conflict (org_id) do nothing`,
    ),
    db.one(
      sql<CountingState>`select ${stateColumns} from gamification_state where ${orgFilter()} for update`,
    ),
  ]);
  return state;
}

/**
 * Requests a count with this ID, unless one is already requested or there is nothing to count. A request that
 * has not run for an hour counts as lost. Returns the state, and whether this call made the request.
 */
export async function requestPointCount(
  db: Db,
  jobId: string,
): Promise<{ state: CountingState; isRequested: boolean }> {
  const [, state] = await Promise.all([
    db.all(
      sql`insert into gamification_state as g (org_id, state, job_id, requested_at) values (${currentOrgId}, 'queued', ${jobId}, now())
         on conflict (org_id) do update set state = 'queued', job_id = excluded.job_id, requested_at = now()
         where case g.state when 'done'
           then g.synced_at is null or g.counted_seq < (select s.activity from streams s where ${orgFilter('s')})
           else g.requested_at < now() - interval '1 hour' end`,
    ),
    db.one(sql<CountingState>`select ${stateColumns} from gamification_state where ${orgFilter()}`),
  ]);
  return { state, isRequested: state.job_id === jobId };
}

/** Records that all activity up to this entry is counted, and whether more activity follows. */
export const storeCountedSeq = (seq: number, hasMore: boolean) =>
  sql`update gamification_state set counted_seq = ${seq}, state = case when ${hasMore}::boolean then 'running' else 'done' end,
       job_id = coalesce(job_id, ${newId()}),
       requested_at = case when ${hasMore}::boolean then now() else requested_at end,
       synced_at = case when ${hasMore}::boolean then synced_at else now() end
     where ${orgFilter()}`;

/** Records that a requested count will not run. */
export const markCountingDone = () =>
  sql`update gamification_state set state = 'done' where ${orgFilter()} and state <> 'done'`;
