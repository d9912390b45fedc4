import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate, migrationNames } from './migrate.ts';

const serverUrl = (): string => process.env['TEST_DATABASE_URL'] ?? '';

async function emptyDatabase(): Promise<string> {
  const name = `empty_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: serverUrl() });
  await admin.connect();
  await admin.query(`create database ${name}`);
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
  it('applies all that is missing, in order, and the second time nothing', async () => {
    const url = await emptyDatabase();
    expect(await migrate(url)).toEqual(migrationNames());
    expect(await migrate(url)).toEqual([]);
    expect(await rowsOf(url, 'select name from kysely_migration order by name')).toEqual(
      migrationNames().map((name) => ({ name })),
    );
  });

  it('does it once when three places start at the same time', async () => {
    const url = await emptyDatabase();
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    expect(applied.map((names) => names.length).sort((a, b) => a - b)).toEqual([
      0,
      0,
      migrationNames().length,
    ]);
  });

  it('does it in two databases of one server at the same time, though they share the roles', async () => {
    const urls = await Promise.all([emptyDatabase(), emptyDatabase()]);
    expect(await Promise.all(urls.map((url) => migrate(url)))).toEqual([migrationNames(), migrationNames()]);
  });

  it('leaves nothing behind when one fails, and names it', async () => {
    const url = await emptyDatabase();
    // In the way of the last but one.
    await rowsOf(url, 'create table outbox (id int)');
    await expect(migrate(url)).rejects.toThrow(
      /^migration 0005_trail failed: relation "outbox" already exists$/,
    );
    expect(
      await rowsOf(
        url,
        `select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%'`,
      ),
    ).toEqual([{ tablename: 'outbox' }]);
    await rowsOf(url, 'drop table outbox');
    expect(await migrate(url)).toEqual(migrationNames());
  });

  it('says that a database cannot be reached', async () => {
    // Port 1 refuses.
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
    url = await emptyDatabase();
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
      // Whoever held the table still does.
      await untilItWaits(false);
      await untilItWaits(true);
      await someone.query('commit');
      expect(await migrated).toEqual(['0002_titles']);
    } finally {
      await someone.end();
    }
  });

  it('leaves what a newer release has migrated, for who goes back to the release before', async () => {
    await write('0003_next', 'create table next (id int)');
    await migrate(url, { folder, schema });
    await rm(path.join(folder, '0003_next.sql'));
    expect(await migrate(url, { folder, schema })).toEqual([]);
    expect(await rowsOf(url, `select to_regclass('next') is not null as is_there`)).toEqual([
      { is_there: true },
    ]);
  });

  it('refuses a database that has a migration in between which this release never had', async () => {
    await write('0004_after', 'select 1');
    await expect(migrate(url, { folder, schema })).rejects.toThrow(/0003_next is missing$/);
  });
});
