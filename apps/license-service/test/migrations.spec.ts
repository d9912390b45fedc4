/** Tests that migrations do not scan the tables of licenses and plans while they block activations. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { migrate } from '@muster/migrations';
import { cloneDatabase } from '@muster/testing';
import { migrateLicenses } from '../src/database.ts';

const migrations = path.join(import.meta.dirname, '../src/migrations');

it('constraints of existing tables are validated by a migration outside of a transaction', async () => {
  const database = await cloneDatabase();
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-license-migrations-'));
  const constraints = async (condition: string): Promise<string[]> =>
    (
      await database.owner.query<{ name: string }>(
        `select conname as name from pg_constraint where contype = 'c' and connamespace = 'licenses'::regnamespace
           and ${condition} order by 1`,
      )
    ).rows.map(({ name }) => name);
  const migrateWithout = async (skipped: RegExp): Promise<unknown> => {
    await cp(migrations, folder, { recursive: true, filter: (file) => !skipped.test(path.basename(file)) });
    return migrate(database.url, { folder, schema: 'licenses' });
  };
  try {
    await migrateWithout(/^00(08|09|1\d)/);
    const tables = await database.owner.query<{ oids: string }>(
      `select string_agg(oid::text, ',') as oids from pg_class where relnamespace = 'licenses'::regnamespace and relkind = 'r'`,
    );
    const before = await constraints('true');
    await migrateWithout(/^001\d/);
    const added = (await constraints(`conrelid in (${tables.rows[0]?.oids ?? ''})`)).filter(
      (name) => !before.includes(name) || name === 'license_events_kind_check',
    );
    expect(added).toHaveLength(6);
    expect(await constraints('not convalidated')).toEqual(added);
    expect(await migrateLicenses(database.url)).toEqual([
      ...['0010_validate', '0011_publish', '0012_validate'],
    ]);
    expect(await constraints('not convalidated')).toEqual([]);
  } finally {
    await database.close();
    await rm(folder, { recursive: true });
  }
});
