/**
 * Tests the files of database functions: when a file runs again, when it does not, and the resulting catalog.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { productVersion } from '@muster/contract';
import { cloneDatabase, type TestDatabase } from '@muster/testing';
import pg from 'pg';
import { applyFunctions, type FunctionFile, isSchemaCurrent } from './function-files.ts';

const someId = '01936d5c-0000-7000-8000-000000000001';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await cloneDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.close();
});

const rows = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
  (await client.query<Row>(text)).rows;

describe('a function file', () => {
  const saying = (said: string, sha256 = said): FunctionFile => ({
    name: 'greet',
    text: `create or replace function app.greet() returns text language sql as $$ select '${said}'::text $$`,
    sha256,
  });
  /** Applies the given function files as the given release. Muster's own function files are not used. */
  const apply = async (release: string, ...files: FunctionFile[]): Promise<string | undefined> => {
    await client.query('begin');
    try {
      await applyFunctions(client, files, release);
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
    const [greeting] = await rows<{ said: string }>('select app.greet() as said');
    return greeting?.said;
  };
  beforeAll(() => client.query('update app.function_files set release = $1', ['1.9.0']));

  it('is run when it is new, again when its text changed, and else not', async () => {
    expect(await apply('1.9.0', saying('good morning'))).toBe('good morning');
    expect(await apply('1.9.0', saying('good evening'))).toBe('good evening');
    // A file with the checksum of the previous text counts as unchanged and does not run.
    expect(await apply('1.9.0', saying('good night', 'good evening'))).toBe('good evening');
  });

  it('is not put over what a newer release has, by whichever of its files', async () => {
    expect(await apply('1.10.0', saying('hello'))).toBe('hello');
    expect(await apply('1.9.0', saying('good morning'))).toBe('hello');
    expect(await apply('1.10.0', saying('hello again'))).toBe('hello again');
    // A release with this file unchanged still counts as the newer one.
    expect(
      await apply('1.11.0', saying('hello again'), { name: 'other', text: 'select 1', sha256: 'b' }),
    ).toBe('hello again');
    expect(await apply('1.10.0', saying('hello'))).toBe('hello again');
  });

  it('that fails says which it is, and leaves the others as they were', async () => {
    const broken = { name: 'broken', text: 'create or replace function oops', sha256: 'c' };
    await expect(apply('1.11.0', saying('never'), broken)).rejects.toMatchObject({
      file: 'functions/broken.sql',
    });
    expect(await apply('1.11.0')).toBe('hello again');
  });
});

describe('the schema', () => {
  it('is current when each function file is as this release has it, or a newer release was there', async () => {
    const other = await cloneDatabase();
    const current = () => isSchemaCurrent(other.app);
    try {
      expect(await current()).toBe(true);
      await other.owner.query(`update app.function_files set sha256 = 'of before' where name = 'enter'`);
      expect(await current()).toBe(false);
      await other.owner.query(`update app.function_files set release = '999.0.0' where name = 'enter'`);
      expect(await current()).toBe(true);
    } finally {
      await other.close();
    }
  });

  it('notes the version of the product with its functions', async () => {
    const other = await cloneDatabase();
    try {
      const { rows: noted } = await other.owner.query('select distinct release from app.function_files');
      expect(noted).toEqual([{ release: productVersion }]);
    } finally {
      await other.close();
    }
  });
});

describe('the functions', () => {
  it('are right in their bodies, each of them, though files are run in any order', async () => {
    const stated = await rows<{ text: string }>(
      `select pg_get_functiondef(p.oid) as text from pg_proc p where p.pronamespace = 'app'::regnamespace`,
    );
    expect(stated.length).toBeGreaterThan(20);
    for (const { text } of stated) await client.query(text);
  });

  it('say which projects are visible as a part of the query that asks, which then looks at one', async () => {
    const plan = await rows<{ 'QUERY PLAN': string }>(
      `explain select * from app.visible_projects('${someId}', '${someId}', '${someId}') v where v.project_id = '${someId}'`,
    );
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain('on projects');
    expect(text).not.toContain('visible_projects');
  });
});

describe('a temporary table of the caller', () => {
  it('stands in front of no table that a function of the door or the platform means', async () => {
    const service = await database.app.connect();
    try {
      await service.query('begin');
      await service.query(`
        create temporary table tokens (org_id uuid, member_id uuid, hash bytea, scopes text[], expires_at timestamptz, revoked_at timestamptz);
        create temporary table members (org_id uuid, id uuid, status text, role text);
        insert into tokens values ('${someId}', '${someId}', '\\x00', '{platform}', null, null);
        insert into members values ('${someId}', '${someId}', 'active', 'owner');
        grant all on tokens, members to public;
        select set_config('muster.platform_pass', '00', true)`);
      await expect(
        service.query('select * from app.platform_subscriptions(null, null, 10, 10)'),
      ).rejects.toMatchObject({ code: 'MU403' });
    } finally {
      await service.query('rollback');
      service.release();
    }
  });
});
