/** Removes deleted records, in portions that are short enough not to block callers. */
import { type Pool, sql } from '@muster/driver';
import { forEachInSequence, type Node, removePlacement } from '@muster/placement';
import { acrossOrganizations, notMovingCondition, type Removal, removeInPortions } from '@muster/tenancy';

/** Callbacks that report the progress of a removal. */
export interface RemovalProgress {
  readonly onRowsRemoved: (rows: number) => void;
  readonly log: (context: object, message: string) => void;
}

/** Interval between progress messages. */
const progressIntervalMillis = 10_000;

/**
 * Removes one record in portions and reports the progress. Returns false if another worker is removing it.
 */
async function removeRecord(
  pool: Pool,
  { onRowsRemoved, log }: RemovalProgress,
  removal: Pick<Removal, 'table' | 'key' | 'signal'>,
): Promise<boolean> {
  const about = { table: removal.table, ...removal.key };
  let rows = 0;
  let says = performance.now() + progressIntervalMillis;
  const done = await removeInPortions(pool, {
    ...removal,
    onPortion: (_table, count) => {
      rows += count;
      onRowsRemoved(count);
      if (performance.now() < says) return;
      says = performance.now() + progressIntervalMillis;
      log({ ...about, rows }, 'removing deleted records');
    },
  });
  if (done) log({ ...about, rows }, 'removed deleted records');
  return done;
}

/** Creates a function that removes the deleted records of a table and returns their number. */
const removeDeleted =
  (table: 'projects' | 'webhooks') =>
  async (pool: Pool, signal: AbortSignal, progress: RemovalProgress): Promise<number> => {
    const deleted = await acrossOrganizations(pool, (db) =>
      db.all(
        sql<{
          org_id: string;
          id: string;
        }>`select org_id, id from ${sql.word(table)} where deleted_at is not null and ${notMovingCondition(sql.part`org_id`)} order by deleted_at limit 1000`,
      ),
    );
    let gone = 0;
    await forEachInSequence(deleted, async (key) => {
      if (await removeRecord(pool, progress, { table, key: { ...key }, signal })) gone += 1;
    });
    return gone;
  };

/** Removes deleted projects, which callers no longer see. */
export const removeProjects = removeDeleted('projects');

/** Removes deleted webhooks with their delivery records. */
export const removeWebhooks = removeDeleted('webhooks');

/** Removes organizations whose owner deleted them more than 30 days ago. */
export async function removeOrganizations(
  at: Node,
  signal: AbortSignal,
  progress: RemovalProgress,
): Promise<number> {
  const { pool } = at;
  const past = await acrossOrganizations(pool, (db) =>
    db.all(
      sql<{
        id: string;
      }>`select id from orgs where deleted_at < now() - interval '30 days' and ${notMovingCondition(sql.part`id`)} order by deleted_at`,
    ),
  );
  let gone = 0;
  await forEachInSequence(past, async ({ id }) => {
    if (!(await removeRecord(pool, progress, { table: 'orgs', key: { id }, signal }))) return;
    await removePlacement(at, id);
    gone += 1;
  });
  return gone;
}
