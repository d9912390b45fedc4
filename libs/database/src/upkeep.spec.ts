import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.close());

it('has what is written again and again vacuumed after so many dead rows, however large the table is', async () => {
  const { rows } = await database.owner.query<{ name: string; after: number }>(
    `select c.relname as name, o.option_value::int as after from pg_class c, pg_options_to_table(c.reloptions) o
     where c.relnamespace = 'public'::regnamespace and o.option_name = 'autovacuum_vacuum_max_threshold' order by 1`,
  );
  expect(Object.fromEntries(rows.map(({ name, after }) => [name, after]))).toEqual({
    executions: 50_000,
    leases: 50_000,
    notification_counts: 50_000,
    outbox: 50_000,
    streams: 5_000,
    tokens: 50_000,
  });
});

it('puts the next version of a stream beside the one before, also where many streams fill the table', async () => {
  const streams = 20_000;
  // What a connection counted is seen by others later.
  const client = await database.owner.connect();
  await client.query(
    `insert into orgs (id, slug, name) select gen_random_uuid(), 'org-' || n, 'Organization' from generate_series(1, $1) n`,
    [streams],
  );
  await client.query('insert into streams (org_id) select id from orgs on conflict do nothing');
  await client.query('update streams set audit = audit + 1');
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ share: number }>(
    `select (n_tup_hot_upd::float / n_tup_upd) as share from pg_stat_user_tables where relname = 'streams'`,
  );
  client.release();
  expect(rows[0]?.share).toBeGreaterThan(0.9);
});
