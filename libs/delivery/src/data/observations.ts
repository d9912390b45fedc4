/** Observations of the forge, kept unchanged forever, once per deduplication key and trust. */
import { type Db, orgFilter, currentOrgId, sql } from '@muster/driver';
import { type Actor, type InputOf, type Trust, verifiedDedupeKeyPrefix } from '@muster/contract';
import { type deliveryRegistry } from '@muster/delivery-registry';

type Observation = InputOf<typeof deliveryRegistry.deliveryExecutions.recordForgeObservation>['observation'];

/** The number of minutes by which an observer's clock may be ahead of the database's. */
export const maxClockSkewMinutes = 5;

/**
 * Reports whether the time of an observation is in the future. Such an observation would win over all later
 * ones until then.
 */
export const isObservedInFuture = async (db: Db, observedAt: string): Promise<boolean> =>
  (
    await db.one(
      sql<{
        ahead: boolean;
      }>`select ${observedAt}::timestamptz > clock_timestamp() + make_interval(mins => ${sql.literal(maxClockSkewMinutes)}) as ahead`,
    )
  ).ahead;

/**
 * Returns an observation's deduplication key in its stored form. Keys of verified observations get a prefix
 * that no token can use, so a report cannot occupy their key.
 */
const toStoredDedupeKey = (dedupeKey: string, trust: Trust): string =>
  trust === 'verified' ? `${verifiedDedupeKeyPrefix}${dedupeKey}` : dedupeKey;

/** Records an observation. Returns false if its key was already recorded with the same trust. */
export const recordObservation = async (
  db: Db,
  executionId: string,
  observation: Observation,
  { trust, by }: { readonly trust: Trust; readonly by: Actor },
): Promise<boolean> =>
  (await db.find(
    sql`insert into forge_observations
         (org_id, execution_id, trust, dedupe_key, kind, ref, sha, number, url, data, observed_at, recorded_by)
       values (${currentOrgId}, ${executionId}, /*guard: a token reports, and verifies nothing*/${trust}/*end*/, ${toStoredDedupeKey(observation.dedupeKey, trust)}, ${observation.kind}, ${observation.ref ?? null}, ${observation.sha ?? null}, ${observation.number ?? null}, ${observation.url ?? null}, ${observation.data ?? null}, ${observation.observedAt}, ${by})
       on conflict (org_id, execution_id, dedupe_key) do nothing returning dedupe_key`,
  )) !== undefined;

/**
 * Lists the unfinished stories that the first merge of this execution's work lands: its own, or those of its
 * group. `reported`: for the first merge from any source. `verified`: for the first one that the forge itself
 * reported. `uncounted`: for a merge that was reported earlier and did not count then.
 */
export const findStoriesToComplete = async (
  db: Db,
  executionId: string,
): Promise<Readonly<Record<Trust | 'uncounted', readonly string[]>>> => {
  const rows = await db.all(
    sql<{
      id: string;
      first: boolean;
      merged: boolean;
    }>`select s.id, e.merged_at is not null as merged, coalesce(e.forge #>> '{pullRequest,kind}' <> 'pr_merged', true) as first from executions e
         join stories s on s.org_id = e.org_id and s.status not in ('done', 'canceled') and (
           (e.target_type = 'story' and s.id = e.target_id) or (e.target_type = 'delivery_group' and s.id in
             (select m.story_id from delivery_group_stories m
               join delivery_groups g on g.org_id = m.org_id and g.id = m.group_id
               where ${orgFilter('m')} and m.group_id = e.target_id and (m.open or g.state = 'landed'))))
         where ${orgFilter('e')} and e.id = ${executionId} and e.merge_verified_at is null order by s.id`,
  );
  return {
    reported: rows.filter(({ first }) => first).map(({ id }) => id),
    verified: rows.map(({ id }) => id),
    uncounted: rows.filter(({ first, merged }) => first && merged).map(({ id }) => id),
  };
};
