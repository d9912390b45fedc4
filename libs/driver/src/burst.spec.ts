import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, withTestTimeouts, type TestDatabase } from '@muster/testing';
import { type PoolClient } from 'pg';
import { BurstError, sendBurst } from './burst.ts';
import { createPool, type Pool } from './pool.ts';
import { type Statement } from './sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
  await database.owner.query('create table notes (id int primary key, body text)');
});
afterAll(() => database.close());

const sql = (text: string, ...parameters: unknown[]): Statement => ({ sql: text, parameters });

/** Runs `work` on a connection that has not prepared any statement yet. */
async function withFreshConnection(work: (client: PoolClient, pool: Pool) => Promise<void>): Promise<void> {
  const pool = withTestTimeouts(createPool({ url: database.url, max: 1 }));
  const client = await pool.connect();
  try {
    await work(client, pool);
  } finally {
    client.release(true);
    await pool.end();
  }
}
const listPreparedStatements = async (client: PoolClient): Promise<string[]> =>
  (
    await client.query<{ statement: string }>(
      'select statement from pg_prepared_statements order by statement',
    )
  ).rows.map((row) => row.statement);

describe('a burst', () => {
  it('answers every statement, in order, with its rows and its tag', () =>
    withFreshConnection(async (client) => {
      const results = await sendBurst(client, [
        sql('insert into notes values ($1, $2), ($3, $4)', 1, 'one', 2, null),
        sql('select * from notes where id = any ($1) order by id', [1, 2]),
        sql('select 1 where false'),
        sql('delete from notes'),
      ]);
      expect(results).toEqual([
        { rows: [], command: 'INSERT 0 2' },
        {
          rows: [
            { id: 1, body: 'one' },
            { id: 2, body: null },
          ],
          command: 'SELECT 2',
        },
        { rows: [], command: 'SELECT 0' },
        { rows: [], command: 'DELETE 2' },
      ]);
    }));

  it('prepares a statement once per connection, also one that stands in it twice', () =>
    withFreshConnection(async (client) => {
      const add = (a: number, b: number) => sql('select $1::int + $2::int as sum', a, b);
      const sums = async (...statements: Statement[]) =>
        (await sendBurst(client, statements)).map(({ rows }) => rows[0]?.['sum']);
      expect(await sums(add(1, 2), add(3, 4))).toEqual([3, 7]);
      expect(await sums(add(5, 6))).toEqual([11]);
      expect(await listPreparedStatements(client)).toEqual(['select $1::int + $2::int as sum']);
    }));

  it('keeps nothing of itself when a statement in the middle fails, and the connection goes on', () =>
    withFreshConnection(async (client) => {
      const failing = sendBurst(client, [
        sql('insert into notes values (10, $1)', 'before'),
        sql('select 1 / $1::int as quotient', 0),
        sql('insert into notes values (11, $1)', 'after'),
      ]);
      await expect(failing).rejects.toMatchObject({ at: 1, sqlState: '22012' });
      await expect(failing).rejects.toBeInstanceOf(BurstError);
      expect((await sendBurst(client, [sql('select * from notes')]))[0]?.rows).toEqual([]);
    }));

  it('says which constraint was broken', () =>
    withFreshConnection(async (client) => {
      const twice = sendBurst(client, [sql('insert into notes values (1), (1)')]);
      await expect(twice).rejects.toMatchObject({ sqlState: '23505', constraint: 'notes_pkey' });
    }));

  // After a failure at any step (parse, bind or execute), the statements of the batch can be sent again.
  it.each<[string, Statement, Statement, string]>([
    ['its text', sql('select nonsense from notes'), sql('select 1 as fine'), '42703'],
    [
      'a value for it',
      sql('select $1::uuid as value', 'no uuid'),
      sql('select $1::uuid as value', null),
      '22P02',
    ],
    ['running it', sql('select 1 / $1::int as value', 0), sql('select 1 / $1::int as value', 1), '22012'],
  ])('can be sent again after %s failed, and leaves no names behind', (_step, bad, good, sqlState) =>
    withFreshConnection(async (client) => {
      const before = sql('select $1::text as before', 'b');
      const after = sql('select $1::text as after', 'a');
      for (let round = 0; round < 3; round += 1) {
        await expect(sendBurst(client, [before, bad, after])).rejects.toMatchObject({ at: 1, sqlState });
      }
      const results = await sendBurst(client, [before, good, after]);
      expect(results[0]?.rows).toEqual([{ before: 'b' }]);
      expect(results[2]?.rows).toEqual([{ after: 'a' }]);
      expect(await listPreparedStatements(client)).toEqual([before.sql, good.sql, after.sql].sort());
    }),
  );

  it('is refused whole when a value cannot be sent', () =>
    withFreshConnection(async (client) => {
      const circle: Record<string, unknown> = {};
      circle['self'] = circle;
      const failing = sendBurst(client, [
        sql('insert into notes values (20)'),
        sql('select $1::jsonb as value', circle),
      ]);
      await expect(failing).rejects.toThrow(/circular/i);
      const [kept] = await sendBurst(client, [sql('select * from notes')]);
      expect(kept?.rows).toEqual([]);
    }));

  it('finds its way after a migration changed what a statement answers', () =>
    withFreshConnection(async (client) => {
      const read = sql('select * from notes');
      await sendBurst(client, [read]);
      await database.owner.query('alter table notes add column added int');
      await expect(sendBurst(client, [read])).rejects.toMatchObject({ sqlState: '0A000' });
      await sendBurst(client, [sql('insert into notes values (30, $1, 5)', 'x')]);
      expect((await sendBurst(client, [read]))[0]?.rows).toEqual([{ id: 30, body: 'x', added: 5 }]);
      await database.owner.query('delete from notes');
      await database.owner.query('alter table notes drop column added');
    }));

  it('finds its way after somebody threw the statements of the connection away', () =>
    withFreshConnection(async (client) => {
      const read = sql('select 1 as one');
      await sendBurst(client, [read]);
      await client.query('deallocate all');
      await expect(sendBurst(client, [read])).rejects.toMatchObject({ sqlState: '26000' });
      expect((await sendBurst(client, [read]))[0]?.rows).toEqual([{ one: 1 }]);
    }));

  it('fails when its backend is killed, and the pool hands out another connection', async () => {
    const pool = withTestTimeouts(createPool({ url: database.url, max: 1 }));
    const client = await pool.connect();
    const [pid] = await sendBurst(client, [sql('select pg_backend_pid() as pid')]);
    const sleeping = sendBurst(client, [sql('select pg_sleep(30)')]);
    const killed = expect(sleeping).rejects.toBeInstanceOf(BurstError);
    await database.owner.query('select pg_terminate_backend($1)', [pid?.rows[0]?.['pid']]);
    await killed;
    client.release(true);
    const next = await pool.connect();
    expect((await sendBurst(next, [sql('select 1 as one')]))[0]?.rows).toEqual([{ one: 1 }]);
    next.release();
    await pool.end();
  });

  it('fails, and does not hang, when the connection ends without a word', () =>
    withFreshConnection(async (client) => {
      const sleeping = sendBurst(client, [sql('select pg_sleep(30)')]);
      const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
      stream.destroy();
      await expect(sleeping).rejects.toMatchObject({ name: 'BurstError', sqlState: undefined });
    }));

  it('fails, as any query, where its answer does not come in its time', async () => {
    const pool = createPool({ url: database.url, max: 1, queryTimeoutMillis: 100 });
    const client = await pool.connect();
    const silent = [sql('set statement_timeout = 0'), sql('select pg_sleep(0.5)')];
    await expect(sendBurst(client, silent)).rejects.toMatchObject({
      message: 'Query read timeout',
      sqlState: undefined,
    });
    client.release(true);
    // pg's own `query` has this read timeout too.
    const other = await pool.connect();
    await other.query('set statement_timeout = 0');
    await expect(other.query('select pg_sleep(0.5)')).rejects.toThrow('Query read timeout');
    other.release(true);
    await pool.end();
  });

  it('gives up the statements of a connection before they are too many', () =>
    withFreshConnection(async (client) => {
      for (let first = 0; first < 1_200; first += 100) {
        await sendBurst(
          client,
          Array.from({ length: 100 }, (_, index) => sql(`select ${first + index}`)),
        );
      }
      expect((await listPreparedStatements(client)).length).toBeLessThan(1_100);
      expect((await sendBurst(client, [sql('select 1')]))[0]?.rows).toEqual([{ '?column?': 1 }]);
    }));
});
