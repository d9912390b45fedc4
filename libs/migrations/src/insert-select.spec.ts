/**
 * Tests that row-level security also applies to rows that are read and inserted by one statement. A database
 * engine that distributes tables might copy such rows without applying the policies.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';
import { type PoolClient } from 'pg';

let database: TestDatabase;
let serviceClient: PoolClient;
let tables: readonly string[];
const ownOrgId = randomUUID();
const otherOrgId = randomUUID();

beforeAll(async () => {
  database = await cloneDatabase();
  const { rows } = await database.owner.query<{ name: string }>(
    `select t.relname as name from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attname = 'org_id'
     where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p')
       and has_column_privilege('muster_app', t.oid, a.attnum, 'insert') order by 1`,
  );
  tables = rows.map(({ name }) => name);
  serviceClient = await database.app.connect();
  await serviceClient.query('begin');
  await serviceClient.query(`select set_config('muster.org_id', $1, true)`, [ownOrgId]);
});
afterAll(async () => {
  await serviceClient.query('rollback');
  serviceClient.release();
  await database.close();
});

/**
 * Inserts a row of the given organization and returns the error of Postgres. Row-level security policies are
 * checked before all other rules, so the other columns are left out.
 */
async function inserted(table: string, orgId: string): Promise<string> {
  await serviceClient.query('savepoint before');
  try {
    await serviceClient.query(`insert into ${table} (org_id) select id from unnest($1::uuid[]) id`, [
      [orgId],
    ]);
    return 'nothing';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await serviceClient.query('rollback to before');
  }
}

describe('insert … select', () => {
  it('is refused to every table that the service inserts into, where the rows are of another organization', async () => {
    expect(tables.length).toBeGreaterThan(60);
    const said: string[] = [];
    for (const table of tables) said.push(`${table}: ${await inserted(table, otherOrgId)}`);
    expect(said.filter((line) => !line.includes('row-level security'))).toEqual([]);
  });

  it('is held by no policy where the rows are of its own', async () => {
    const said: string[] = [];
    for (const table of tables) said.push(`${table}: ${await inserted(table, ownOrgId)}`);
    expect(said.filter((line) => line.includes('row-level security'))).toEqual([]);
  });
});
