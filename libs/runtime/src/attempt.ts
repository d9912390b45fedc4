/** Work within a transaction that may be taken back. */
import { sql } from '@muster/driver';
import { type Transaction } from './execute.ts';

/** Does `work`, and where it answers undefined undoes its statements, what it left for later, and its events. */
export async function attempt<Result>(
  { session, domainEvents }: Pick<Transaction, 'session' | 'domainEvents'>,
  work: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  // What was left for later before belongs to what stays.
  session.flush();
  const kept = domainEvents.length;
  const [, result] = await Promise.all([session.all(sql`savepoint attempt`), work()]);
  if (result !== undefined) return result;
  session.discard();
  domainEvents.splice(kept);
  await session.all(sql`rollback to savepoint attempt`);
  return undefined;
}
