/** Requests the daily digests of notifications. */
import { type Pool, sql } from '@muster/driver';
import { dueDigestsCondition, requestDueDigests } from '@muster/notifications';
import { runInConcernedOrganizations } from './portions.ts';

const batchSize = 500;

/** Requests an e-mail for each member whose digest is due. Concurrent workers request only one. */
export async function requestDigestMails(pool: Pool, signal: AbortSignal, hourUtc: number): Promise<void> {
  const concerned = sql<{
    id: string;
  }>`select distinct t.org_id as id from notification_digests t where ${dueDigestsCondition(hourUtc)}`;
  await runInConcernedOrganizations(pool, signal, { affectedOrgsQuery: concerned, most: batchSize }, (db) =>
    requestDueDigests(db, hourUtc, batchSize),
  );
}
