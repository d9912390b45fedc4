/** Warns members of tokens that expire soon, so that they can create new ones. */
import { type Pool, sql } from '@muster/driver';
import { expiringTokensCondition, requestTokenExpiryMails } from '@muster/organizations';
import { runInConcernedOrganizations } from './portions.ts';

const batchSize = 1_000;

/**
 * Requests an e-mail for each token that expires soon and has none yet. Concurrent workers request only one.
 */
export async function warnOfExpiringTokens(pool: Pool, signal: AbortSignal): Promise<void> {
  const concerned = sql<{
    id: string;
  }>`select distinct t.org_id as id from tokens t where ${expiringTokensCondition}`;
  await runInConcernedOrganizations(pool, signal, { affectedOrgsQuery: concerned, most: batchSize }, (db) =>
    requestTokenExpiryMails(db, batchSize),
  );
}
