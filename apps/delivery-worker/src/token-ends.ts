/** Tokens that end soon: their members are told in time to make others. */
import { type Pool, sql } from '@muster/driver';
import { noteTokenEnds, tokensToWarnOf } from '@muster/organizations';
import { acrossOrganizations } from '@muster/tenancy';
import { inPortions } from './portions.ts';

const batchSize = 1_000;

/** Asks for a mail about each token that ends soon and of which none was asked for; two workers ask for one. */
export async function warnOfEnds(pool: Pool, signal: AbortSignal): Promise<void> {
  const concerned = await acrossOrganizations(pool, (db) =>
    db.all(sql<{ id: string }>`select distinct t.org_id as id from tokens t where ${tokensToWarnOf}`),
  );
  const orgIds = concerned.map(({ id }) => id);
  await inPortions(pool, signal, { orgIds, most: batchSize }, (db) => noteTokenEnds(db, batchSize));
}
