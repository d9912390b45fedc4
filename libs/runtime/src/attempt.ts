/** Runs work within a transaction that can be rolled back to a savepoint. */
import { type Db, sql } from '@muster/driver';
import { type DomainEvent } from '@muster/tenancy';

interface UndoableTransaction {
  readonly session: Pick<Db, 'all'> & {
    /** Sends the deferred statements before the next ones. */
    flush(): void;
    /** Forgets the deferred statements. */
    discard(): void;
  };
  readonly domainEvents: DomainEvent[];
}

/** Runs `work`. If it returns undefined, undoes its statements, its deferred statements and its events. */
export async function runInSavepoint<Result>(
  { session, domainEvents }: UndoableTransaction,
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
