/** Work in many organizations, in portions short enough that no caller waits for them. */
import { type PlainDb, type Pool } from '@muster/driver';
import { inOrganizationAsSystem } from '@muster/tenancy';

/** In each of the organizations does portions of `most`, until one is not full; answers how much it did. */
export async function inPortions(
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
