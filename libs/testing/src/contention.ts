/** Runs calls concurrently: a spec holds locks in the database until all of the calls wait for one. */
import { setTimeout as pause } from 'node:timers/promises';
import { type TestDatabase } from './database.ts';
import { type RowLock, type World } from './world.ts';

/**
 * The time limit until all of the calls wait for a lock, in milliseconds. It is longer than any lock timeout
 * of the services.
 */
const waitTimeoutMillis = 30_000;

/** Releases the locks once each of the calls waits for a lock. Returns the outcomes of the calls in order. */
export async function runUnderContention<Result>(
  { owner }: TestDatabase,
  queryRows: World['rows'],
  lock: RowLock,
  calls: readonly (() => Promise<Result>)[],
): Promise<PromiseSettledResult<Result>[]> {
  const holder = await owner.connect();
  let isOver = false;
  try {
    await holder.query('begin');
    await holder.query(
      `select 1 from ${lock.table} where ${lock.column ?? 'id'} = any ($1::uuid[]) for update`,
      [[lock.id].flat()],
    );
    const running = calls.map((call) => call());
    const settled = Promise.allSettled(running);
    await waitUntilAllBlocked(calls.length, queryRows);
    await holder.query('rollback');
    isOver = true;
    return await settled;
  } finally {
    // Closes the connection if the transaction is open, because later specs would wait for its locks.
    holder.release(!isOver);
  }
}

/** Waits until this number of sessions of the database wait for a lock. */
export async function waitUntilAllBlocked(count: number, queryRows: World['rows']): Promise<void> {
  for (const end = performance.now() + waitTimeoutMillis; performance.now() < end;) {
    const [waiting] = await queryRows<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if ((waiting?.n ?? 0) >= count) return;
    await pause(2);
  }
  throw new Error(`not all of the ${count} calls came to wait for the lock`);
}
