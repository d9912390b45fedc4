/** Runs work in many organizations, in portions that are short enough not to block callers. */
import { type PlainDb, type Pool, type Query } from '@muster/driver';
import { acrossOrganizations, inOrganizationAsSystem } from '@muster/tenancy';

/** Runs portions of `most` in each organization until one is not full, and returns the total. */
export async function runInBatches(
  pool: Pool,
  signal: AbortSignal,
  { orgIds, most }: { readonly orgIds: readonly string[]; readonly most: number },
  work: (db: PlainDb) => Promise<number>,
): Promise<number> {
  let all = 0;
  for (const orgId of orgIds) {
    for (;;) {
      signal.throwIfAborted();
      const done = await inOrganizationAsSystem(pool, orgId, work);
      all += done;
      if (done < most) break;
    }
  }
  return all;
}

/** Runs batches in each organization whose id the query returns. */
export async function runInConcernedOrganizations(
  pool: Pool,
  signal: AbortSignal,
  {
    affectedOrgsQuery: concerned,
    most,
  }: { readonly affectedOrgsQuery: Query<{ id: string }>; readonly most: number },
  work: (db: PlainDb) => Promise<number>,
): Promise<number> {
  const rows = await acrossOrganizations(pool, (db) => db.all(concerned));
  return runInBatches(pool, signal, { orgIds: rows.map(({ id }) => id), most }, work);
}
