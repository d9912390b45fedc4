/** Runs work in many organizations, in portions that are short enough not to block callers. */
import { type Part, type PlainDb, type Pool, sql } from '@muster/driver';
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

/** Runs batches in each organization that has rows in this table, with an alias `t`, that match the condition. */
export async function runInConcernedOrganizations(
  pool: Pool,
  signal: AbortSignal,
  { table, condition, most }: { readonly table: string; readonly condition: Part; readonly most: number },
  work: (db: PlainDb) => Promise<number>,
): Promise<number> {
  const concerned = await acrossOrganizations(pool, (db) =>
    db.all(sql<{ id: string }>`select distinct t.org_id as id from ${sql.word(table)} t where ${condition}`),
  );
  return runInBatches(pool, signal, { orgIds: concerned.map(({ id }) => id), most }, work);
}
