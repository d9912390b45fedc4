import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startAlteringProxy } from '@muster/testing';
import pg from 'pg';
import { migrate, migrationNames } from './migrate.ts';

const serverUrl = (): string => process.env['TEST_DATABASE_URL'] ?? '';

async function createEmptyDatabase(options = ''): Promise<string> {
  const name = `empty_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl() });
  await admin.connect();
  await admin.query(`create database ${name} ${options}`);
  await admin.end();
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return url.href;
}

async function rowsOf(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

describe('migrate', () => {
  it('refuses a server that is too old, before anything of it is made', async () => {
    const url = await createEmptyDatabase();
    const line = await startAlteringProxy(url, /\b18(?=\d{4}\b)/, '17');
    try {
      await expect(migrate(line.url)).rejects.toThrow(
        /^the database cannot be migrated: PostgreSQL 18 or newer is required, and the server is PostgreSQL 17\.\d+$/,
      );
    } finally {
      line.stop();
    }
    expect(await rowsOf(url, `select from pg_namespace where nspname = 'app'`)).toEqual([]);
  });

  it('refuses a database of another encoding', async () => {
    const name = await createEmptyDatabase('encoding SQL_ASCII locale "C" template template0');
    await expect(migrate(name)).rejects.toThrow(
      'the database cannot be migrated: the database must have the encoding UTF8, and its encoding is SQL_ASCII',
    );
  });

  it('applies all that is missing, in order, and the second time nothing', async () => {
    const url = await createEmptyDatabase();
    expect(await migrate(url)).toEqual(migrationNames());
    expect(await migrate(url)).toEqual([]);
    expect(await rowsOf(url, 'select name from app.applied_migrations order by name')).toEqual(
      migrationNames().map((name) => ({ name })),
    );
  });

  it('gives each organization an epoch that came to be without one', async () => {
    const url = await createEmptyDatabase();
    await migrate(url);
    const orgs = `select o.id, e.epoch is not null as has from orgs o left join rights_epochs e on e.org_id = o.id`;
    await rowsOf(
      url,
      `insert into orgs (id, slug, name) values (gen_random_uuid(), 'acme', 'Acme');
       delete from rights_epochs`,
    );
    expect(await rowsOf(url, orgs)).toMatchObject([{ has: false }]);
    const text = readFileSync(path.join(import.meta.dirname, '../migrations/0014_nodes.sql'), 'utf8');
    const [, given = ''] = /^(set local role muster_door;\n.*?set local role none;)$/ms.exec(text) ?? [];
    await rowsOf(url, `begin; ${given} commit`);
    expect(await rowsOf(url, orgs)).toMatchObject([{ has: true }]);
  });

  it('does it once when three places start at the same time', async () => {
    const url = await createEmptyDatabase();
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    expect(applied.map((names) => names.length).sort((a, b) => a - b)).toEqual([
      0,
      0,
      migrationNames().length,
    ]);
  });

  it('does it in two databases of one server at the same time, though they share the roles', async () => {
    const urls = await Promise.all([createEmptyDatabase(), createEmptyDatabase()]);
    expect(await Promise.all(urls.map((url) => migrate(url)))).toEqual([migrationNames(), migrationNames()]);
  });

  it.each([
    ['from the first word', () => true],
    ['once it is asked for the lock', (bytes: Buffer) => bytes.includes('pg_try_advisory_lock')],
  ])('gives up on a Postgres that is silent %s', async (_title, isLast) => {
    const { port, hostname } = new URL(serverUrl());
    const server = createServer((here) => {
      const there = connect(Number(port), hostname);
      for (const socket of [here, there]) socket.on('error', () => undefined);
      here.on('data', (bytes: Buffer) => {
        if (isLast(bytes)) there.destroy();
        else there.write(bytes);
      });
      there.on('data', (bytes) => here.write(bytes));
      here.on('close', () => there.destroy());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(await createEmptyDatabase());
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const began = performance.now();
    await expect(migrate(url.href)).rejects.toThrow(/^the database cannot be migrated: .*timeout/);
    expect(performance.now() - began).toBeLessThan(20_000);
    server.close();
    await once(server, 'close');
  });

  it('leaves nothing behind when one fails, and names it', async () => {
    const url = await createEmptyDatabase();
    // This table conflicts with a migration in the middle of the list.
    await rowsOf(url, 'create table outbox (id int)');
    await expect(migrate(url)).rejects.toThrow(
      /^migration 0007_trail failed: relation "outbox" already exists$/,
    );
    expect(await rowsOf(url, `select tablename from pg_tables where schemaname = 'public'`)).toEqual([
      { tablename: 'outbox' },
    ]);
    await rowsOf(url, 'drop table outbox');
    expect(await migrate(url)).toEqual(migrationNames());
  });

  it('says in one sentence what a database of before the first release is and what to do, and leaves it as it is', async () => {
    const url = await createEmptyDatabase();
    await rowsOf(
      url,
      `create schema app;
       create table app.applied_migrations (name text primary key, applied_at timestamptz(3) not null default now());
       insert into app.applied_migrations (name) values ('0001_foundation'), ('0002_people'), ('0032_after_loss');
       create table stories (title text);
       insert into stories values ('Kept')`,
    );
    await expect(migrate(url)).rejects.toThrow(
      'the database cannot be migrated: it has the schema of another Muster version (migration 0002_people where this ' +
        'release has 0002_organizations), and it cannot be upgraded from there. Nothing was changed. Start with an empty ' +
        'database (with `npm start`: move the folder .data away); use pg_dump to save the data of this one.',
    );
    expect(
      await rowsOf(
        url,
        `select (select array_agg(title) from stories) as stories,
           (select count(*)::int from pg_tables where schemaname in ('app', 'public')) as tables,
           (select count(*)::int from app.applied_migrations) as migrations`,
      ),
    ).toEqual([{ stories: ['Kept'], tables: 2, migrations: 3 }]);
  });

  it('lets nobody but its owner make temporary tables, which could stand in front of ours', async () => {
    const url = await createEmptyDatabase();
    await migrate(url);
    await expect(
      rowsOf(url, 'set role muster_app; create temporary table tokens (id uuid)'),
    ).rejects.toMatchObject({ code: '42501' });
  });

  it('says that a database cannot be reached', async () => {
    // No server listens on port 1.
    await expect(migrate('postgres://127.0.0.1:1/muster')).rejects.toThrow(
      /^the database cannot be migrated: .+/,
    );
  });

  it('numbers its files without a gap', () => {
    expect(migrationNames().map((name) => Number(name.slice(0, 4)))).toEqual(
      migrationNames().map((_, index) => index + 1),
    );
  });
});

describe('migrate, on a database that is at work', () => {
  let folder: string;
  let url: string;
  const schema = 'elsewhere';

  const write = (name: string, text: string): Promise<void> =>
    writeFile(path.join(folder, `${name}.sql`), text);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-migrations-'));
    url = await createEmptyDatabase();
    await write('0001_pages', 'create table pages (id int)');
    await migrate(url, { folder, schema });
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('gives way where it would hold others up, and is done as soon as it can', async () => {
    await write('0002_titles', 'alter table pages add column title text');
    const someone = new pg.Client({ connectionString: url });
    await someone.connect();
    const waits = async (): Promise<boolean> => {
      const rows = await rowsOf(
        url,
        `select from pg_locks where relation = 'pages'::regclass and not granted`,
      );
      return rows.length > 0;
    };
    const untilItWaits = async (expected: boolean): Promise<void> => {
      while ((await waits()) !== expected) await pause(20);
    };
    try {
      await someone.query('begin; select from pages');
      const migrated = migrate(url, { folder, schema });
      await untilItWaits(true);
      // The first attempt has timed out, because the other transaction still holds its lock on the table.
      await untilItWaits(false);
      await untilItWaits(true);
      await someone.query('commit');
      expect(await migrated).toEqual(['0002_titles']);
    } finally {
      await someone.end();
    }
  });

  it('builds an index outside a transaction beside those who write, and once more after it was stopped', async () => {
    await write(
      '0003_index',
      `-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists pages_title;
create unique index concurrently pages_title on pages (title);`,
    );
    await write('0004_more', `alter table pages add column more text`);
    await rowsOf(url, `insert into pages (title) values ('same'), ('same')`);
    await expect(migrate(url, { folder, schema })).rejects.toThrow(
      /^migration 0003_index failed: could not create/,
    );
    const [left] = await rowsOf(
      url,
      `select (select indisvalid from pg_index where indexrelid = 'pages_title'::regclass) as is_valid,
         (select count(*)::int from elsewhere.applied_migrations where name > '0002_titles') as noted`,
    );
    expect(left).toEqual({ is_valid: false, noted: 0 });
    await rowsOf(url, `delete from pages`);
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    try {
      // An open transaction with writes blocks the migration; other writers continue.
      await writer.query(`begin; insert into pages (title) values ('first')`);
      const migrated = Promise.all([migrate(url, { folder, schema }), migrate(url, { folder, schema })]);
      const waits = async (): Promise<boolean> =>
        (await rowsOf(url, `select from pg_locks where locktype = 'virtualxid' and not granted`)).length > 0;
      while (!(await waits())) await pause(20);
      await rowsOf(url, `insert into pages (title) values ('second')`);
      await writer.query('commit');
      expect((await migrated).flat()).toEqual(['0003_index', '0004_more']);
    } finally {
      await writer.end();
    }
  });

  it('leaves what a newer release has migrated, for who goes back to the release before', async () => {
    await write('0005_next', 'create table next (id int)');
    await migrate(url, { folder, schema });
    await rm(path.join(folder, '0005_next.sql'));
    expect(await migrate(url, { folder, schema })).toEqual([]);
    expect(await rowsOf(url, `select to_regclass('next') is not null as is_there`)).toEqual([
      { is_there: true },
    ]);
  });

  it('refuses a database that has a migration in between which this release never had', async () => {
    await write('0006_after', 'select 1');
    await expect(migrate(url, { folder, schema })).rejects.toThrow(
      /\(migration 0005_next where this release has 0006_after\), /,
    );
  });

  it('refuses one that is behind a migration which came in between', async () => {
    await write('0005_next', 'create table next (id int)');
    await write('0003_a_late_one', 'select 1');
    await expect(migrate(url, { folder, schema })).rejects.toThrow(
      /\(migration 0003_index where this release has 0003_a_late_one\), /,
    );
  });
});
