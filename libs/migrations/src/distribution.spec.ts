/**
 * Checks in the catalog that organizations can be spread over servers, so that new tables and functions are
 * covered, too. Known exceptions are listed with their reason; a list may only become shorter.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.close());

const listNames = async (sql: string): Promise<string[]> =>
  (await database.owner.query<{ name: string }>(sql)).rows.map(({ name }) => name);

const tablesSql = `(select c.oid, c.relname, a.attnum as org from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = case c.relname when 'orgs' then 'id' else 'org_id' end
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p'))`;

interface SchemaRule {
  /** The query for the names of violations, sorted. */
  readonly query: string;
  /** The known violations. */
  readonly exceptions: readonly string[];
}

const schemaRules: Readonly<Record<string, SchemaRule>> = {
  'every unique key begins with the organization': {
    query: `select i.indexrelid::regclass::text as name from pg_index i join ${tablesSql} t on t.oid = i.indrelid
      where i.indisunique and i.indkey[0] <> t.org order by 1`,
    // Tokens and invitations are found by their hashes before their organization is known; an organization is
    // found by its slug.
    exceptions: ['invitations_token_hash_key', 'orgs_slug_key', 'tokens_hash_key'],
  },
  'every foreign key begins with the organization, on both sides': {
    query: `select k.conname as name from pg_constraint k join ${tablesSql} t on t.oid = k.conrelid
      left join ${tablesSql} there on there.oid = k.confrelid
      where k.contype = 'f' and (k.conkey[1] <> t.org or k.confkey[1] is distinct from there.org) order by 1`,
    exceptions: [],
  },
  'no foreign key sets columns where what it refers to goes': {
    query: `select k.conname as name from pg_constraint k
      where k.contype = 'f' and k.connamespace = 'public'::regnamespace and k.conparentid = 0
        and (k.confdeltype in ('n', 'd') or k.confupdtype in ('n', 'd')) order by 1`,
    exceptions: [],
  },
  'no trigger is given the rows of a whole statement': {
    query: `select tgrelid::regclass || ' ' || tgname as name from pg_trigger
      where (tgoldtable is not null or tgnewtable is not null) order by 1`,
    exceptions: [],
  },
  'no function in SQL reads or writes tables of organizations': {
    query: `select p.oid::regprocedure::text as name from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname = 'sql'
      where p.pronamespace in ('app'::regnamespace, 'public'::regnamespace, 'sign_in'::regnamespace)
        and exists (select from ${tablesSql} t where p.prosrc ~ ('\\m(from|join|update|into)\\s+(public\\.)?' || t.relname || '\\M'))
      order by 1`,
    exceptions: [
      // These SQL functions are inlined into queries by Postgres. In PL/pgSQL they would keep lists from
      // using their indexes.
      ...['app.project_rank(uuid,uuid,text,uuid,text)', 'app.visible_projects(uuid,uuid,uuid)'],
      // These functions belong to the authorization check.
      ...['app.identify(bytea)', 'app.touch_tokens(bytea[])'],
    ],
  },
  'no function asks for rows without columns': {
    query: `select p.oid::regprocedure::text as name from pg_proc p
      where p.pronamespace in ('app'::regnamespace, 'public'::regnamespace, 'sign_in'::regnamespace)
        and p.prosrc ~ '\\mselect\\s+from\\M' order by 1`,
    exceptions: [],
  },
};

describe('organizations can lie apart:', () => {
  it.each(Object.entries(schemaRules))('%s', async (_law, { query, exceptions: but }) => {
    expect(await listNames(query)).toEqual(but.toSorted());
  });

  it('what breaks a law is found', async () => {
    await database.owner.query(`
      create table apart (org_id uuid, id uuid, other uuid unique, primary key (id, org_id));
      create table beside (org_id uuid, id uuid, apart uuid, primary key (org_id, id),
        constraint beside_turned foreign key (apart, org_id) references apart (id, org_id) on delete set null (apart));
      create function app.apart_counted() returns trigger language plpgsql as 'begin return null; end';
      create trigger counted after insert on apart referencing new table as added execute function app.apart_counted();
      create function app.apart_of(wanted uuid) returns bigint language sql as 'select count(*) from public.apart where id = wanted';
      create function app.is_apart() returns boolean language plpgsql as 'begin return exists (select from apart); end'`);
    const found = await Promise.all(
      Object.values(schemaRules).map(async ({ query, exceptions: but }) =>
        (await listNames(query)).filter((name) => !but.includes(name)),
      ),
    );
    expect(found).toEqual([
      ['apart_other_key', 'apart_pkey'],
      ['beside_turned'],
      ['beside_turned'],
      ['apart counted'],
      ['app.apart_of(uuid)'],
      ['app.is_apart()'],
    ]);
  });
});
