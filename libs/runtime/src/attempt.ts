/** Runs work within a transaction that can be rolled back to a savepoint. */
import { sql } from '@muster/driver';
import { type Transaction } from './execute.ts';

/** Runs `work`. If it returns undefined, undoes its statements, its deferred statements and its events. */
export async function runInSavepoint<Result>(
  { session, domainEvents }: Pick<Transaction, 'session' | 'domainEvents'>,
  work: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  // Statements that were deferred earlier are not part of the attempt.
  session.flush();
  const kept = domainEvents.length;
  const [, result] = await Promise.all([session.all(sql`savepoint attempt`), work()]);
  if (result !== undefined) return result;
  session.discard();
  domainEvents.splice(kept);
  await session.all(sql`rollback to savepoint attempt`);
  return undefined;
}
