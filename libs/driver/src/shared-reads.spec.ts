import { type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { cloneDatabase, type TestDatabase, waitUntil } from '@muster/testing';
import { BurstError, sendBurst } from './burst.ts';
import { checkOutConnection, createPool, DatabaseAway, DatabaseBusy, type Pool } from './pool.ts';
import { type Statement } from './sql.ts';
import { sendRead } from './shared-reads.ts';

const sql = (text: string, ...parameters: unknown[]): Statement => ({ sql: text, parameters });
/** Selects the PID of the server process and the given number. */
const echo = (said: number) => sql('select pg_backend_pid() as server, $1::int as said', said);
const sleep = (seconds: number) => sql('select pg_sleep($1)', seconds);

let database: TestDatabase;
const pools: Pool[] = [];
beforeAll(async () => {
  database = await cloneDatabase();
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});
afterAll(() => database.close());

function poolOf(max: number, url = database.url): Pool {
  const pool = createPool({ url, max });
  pools.push(pool);
  return pool;
}

async function readRow(pool: Pool, ...statements: Statement[]): Promise<Record<string, unknown>> {
  const results = await sendRead(pool, statements);
  return results.at(-1)?.rows[0] ?? {};
}

const readCount = 200;
const runEchoes = (pool: Pool): Promise<Record<string, unknown>[]> =>
  Promise.all(Array.from({ length: readCount }, (_, index) => readRow(pool, echo(index))));

/** Returns, in the given order, the row or the error of each read. */
const settleAll = async (answers: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(answers)).map((each) =>
    each.status === 'fulfilled' ? each.value : (each.reason as unknown),
  );

/** Makes a pool whose two connections are both slow. Further reads wait for the connection that becomes free first. */
async function busyPool(): Promise<{ pool: Pool; idle: () => Promise<unknown> }> {
  const pool = poolOf(2);
  await runEchoes(pool);
  const busy = [readRow(pool, sleep(0.1)), readRow(pool, sleep(0.5))];
  await pause(50);
  return { pool, idle: () => Promise.all(busy) };
}

describe('reads that share connections', () => {
  it('each get their own answer, over few connections', async () => {
    const pool = poolOf(10);
    await runEchoes(pool);
    const answers = await runEchoes(pool);
    expect(answers.map(({ said }) => said)).toEqual(answers.map((_, index) => index));
    expect(pool.totalCount).toBeLessThan(10);
  });

  it('of one turn of the event loop are written to each connection at once', async () => {
    const pool = poolOf(2);
    const clients = await Promise.all([checkOutConnection(pool), checkOutConnection(pool)]);
    // Prepares the statement on both connections. Otherwise each would first send a single read, to prepare
    // it.
    for (const client of clients) await sendBurst(client, [echo(0)]);
    const writes = clients.map((client) =>
      jest.spyOn((client as typeof client & { connection: { stream: Socket } }).connection.stream, 'write'),
    );
    for (const client of clients) client.release();
    // On a busy machine one connection may be slow in a round, so that all reads wait for the other
    // connection.
    await waitUntil(async () => {
      for (const write of writes) write.mockClear();
      const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((said) => readRow(pool, echo(said))));
      expect(answers.map(({ said }) => said)).toEqual([1, 2, 3, 4, 5, 6]);
      return writes.every(({ mock }) => mock.calls.length === 1);
    });
  });

  it('leave their connections to others once there is none to answer', async () => {
    const pool = poolOf(2);
    await runEchoes(pool);
    // A connection is returned to the pool shortly after its last answer.
    await waitUntil(() => Promise.resolve(pool.idleCount === pool.totalCount && pool.waitingCount === 0));
  });

  it('are transactions apart: what one sets, another does not see', async () => {
    const pool = poolOf(1);
    const set = (word: string) => sql(`select set_config('muster.word', $1, true)`, word);
    const look = sql(`select coalesce(current_setting('muster.word', true), '') as word`);
    await readRow(pool, set('first'), look);
    const words = await Promise.all([
      readRow(pool, set('mine'), look),
      readRow(pool, look),
      readRow(pool, look),
    ]);
    expect(words).toEqual([{ word: 'mine' }, { word: '' }, { word: '' }]);
  });

  it('fail by themselves', async () => {
    const pool = poolOf(1);
    const divide = (by: number) => sql('select 4 / $1::int as said', by);
    await readRow(pool, divide(1));
    const answers = await settleAll([divide(2), divide(0), divide(4)].map((each) => readRow(pool, each)));
    expect(answers).toEqual([{ said: 2 }, expect.any(BurstError), { said: 1 }]);
    expect(answers[1]).toMatchObject({ sqlState: '22012', at: 0 });
  });

  it('need no statement that one before them prepared and never came to', async () => {
    const { pool, idle } = await busyPool();
    const fresh = sql('select 7 as said');
    const failing = sql('select 1 / $1::int', 0);
    const answers = await settleAll([
      readRow(pool, failing, fresh),
      readRow(pool, fresh),
      readRow(pool, fresh),
    ]);
    expect(answers).toEqual([expect.any(BurstError), { said: 7 }, { said: 7 }]);
    await idle();
  });

  it('are not held up by one that takes long', async () => {
    const pool = poolOf(4);
    await runEchoes(pool);
    let isOver = false;
    const slow = settleAll([readRow(pool, sql('select pg_sleep(4), $1::text as slow', 'slow'))]).finally(
      () => {
        isOver = true;
      },
    );
    // When this read ends, the connection of `slow` has passed the limit for slow reads.
    await readRow(pool, sleep(0.02));
    await runEchoes(pool);
    expect(isOver).toBe(false);
    await database.owner.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where query like '%as slow'`,
    );
    await slow;
  });

  it('fail with their connection where they were written to it, and else have another', async () => {
    const end = sql('select pg_terminate_backend(pg_backend_pid())');
    const fresh = sql('select 3 as said');
    // On a busy machine the first read may take longer than `slowBurstMillis` before the others are pipelined
    // behind it. Then the test tries again.
    await waitUntil(async () => {
      const { pool, idle } = await busyPool();
      const [ended, next, behind, unwritten, last] = await settleAll(
        [end, echo(1), echo(2), fresh, echo(4)].map((each) => readRow(pool, each)),
      );
      expect(ended).toMatchObject({ sqlState: '57P01' });
      expect([unwritten, last]).toMatchObject([{ said: 3 }, { said: 4 }]);
      await idle();
      expect(pool.idleCount).toBe(pool.totalCount);
      if (![next, behind].every((lost) => lost instanceof BurstError)) return false;
      expect([next, behind]).toMatchObject([{ sqlState: undefined }, { sqlState: undefined }]);
      return true;
    });
  });

  it.each([1, 2])('leave other work a connection of %i, however many they are', async (max) => {
    const pool = poolOf(max);
    let isOver = false;
    const flood = Array.from({ length: 40 }, async () => {
      while (!isOver) await readRow(pool, sleep(0.005));
    });
    await pause(100);
    for (let times = 0; times < 5; times += 1) {
      const client = await checkOutConnection(pool);
      client.release();
    }
    isOver = true;
    await Promise.all(flood);
  });

  it('are refused as busy where others keep all connections', async () => {
    const pool = poolOf(1);
    const client = await pool.connect();
    expect(await settleAll([readRow(pool, echo(1)), readRow(pool, echo(2))])).toEqual([
      expect.any(DatabaseBusy),
      expect.any(DatabaseBusy),
    ]);
    client.release();
    expect(await readRow(pool, echo(3))).toMatchObject({ said: 3 });
  });

  it('are refused where there is no database', async () => {
    const url = new URL(database.url);
    url.port = '1';
    const pool = poolOf(1, url.href);
    expect(await settleAll([readRow(pool, echo(1))])).toEqual([expect.any(DatabaseAway)]);
  });
});
