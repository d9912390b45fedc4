/** Requests the daily digests of notifications. */
import { type Pool } from '@muster/driver';
import { dueDigestsCondition, requestDueDigests } from '@muster/notifications';
import { runInConcernedOrganizations } from './portions.ts';

const batchSize = 500;

/** Requests an e-mail for each member whose digest is due. Concurrent workers request only one. */
export async function requestDigestMails(pool: Pool, signal: AbortSignal, hourUtc: number): Promise<void> {
  const due = { table: 'notification_digests', condition: dueDigestsCondition(hourUtc), most: batchSize };
  await runInConcernedOrganizations(pool, signal, due, (db) => requestDueDigests(db, hourUtc, batchSize));
}
