/** Tokens that end soon: their members are told in time to make others. */
import { acrossOrganizations, inOrganizationAsSystem, type Pool, sql } from '@muster/database';
import { noteTokenEnds, tokensToWarnOf } from '@muster/organizations';

const batchSize = 1_000;

/** Asks for a mail about each token that ends soon and of which none was asked for; two workers ask for one. */
export async function warnOfEnds(pool: Pool, signal: AbortSignal): Promise<void> {
  const concerned = await acrossOrganizations(pool, (db) =>
    db.all(sql<{ id: string }>`select distinct t.org_id as id from tokens t where ${tokensToWarnOf}`),
  );
  for (const { id } of concerned) {
    for (;;) {
      signal.throwIfAborted();
      const noted = await inOrganizationAsSystem(pool, id, (db) => noteTokenEnds(db, batchSize));
      if (noted < batchSize) break;
    }
  }
}
