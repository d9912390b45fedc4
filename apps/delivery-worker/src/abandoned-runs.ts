/** Ends runs that have sent no event for a long time, so that they are purged like other ended runs. */
import { abandonedAfterDays, endAbandonedRuns } from '@muster/delivery';
import { type Pool, sql } from '@muster/driver';
import { runInConcernedOrganizations } from './portions.ts';

const batchSize = 1_000;

/** Ends abandoned runs in every organization, and returns their number. */
export const endAbandonedRunsEverywhere = (pool: Pool, signal: AbortSignal): Promise<number> =>
  runInConcernedOrganizations(
    pool,
    signal,
    {
      affectedOrgsQuery: sql<{ id: string }>`select distinct org_id as id from agent_runs
        where ended_at is null and last_seen_at < now() - make_interval(days => ${abandonedAfterDays})`,
      most: batchSize,
    },
    async (db) => (await endAbandonedRuns(db, batchSize)).length,
  );
