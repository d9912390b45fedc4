/** Checks the catalog for every table and function, so that new ones are covered. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cloneDatabase, type TestDatabase } from '@muster/testing';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database.close());

const names = async (sql: string): Promise<string[]> =>
  (await database.owner.query<{ name: string }>(sql)).rows.map((row) => row.name);

/** Selects the tables with data of organizations. The migrator's own tables are in another schema. */
const tablesSql = `select c.oid, c.relname, c.relrowsecurity, c.relforcerowsecurity from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`;
const hasOrgIdSql = `exists (select from pg_attribute a where a.attrelid = t.oid and a.attname = 'org_id')`;
/** Returns the column names of an index or a constraint, in order. */
const columnsOf = (relation: string, numbers: string) =>
  `array(select a.attname::text from unnest(${numbers}) with ordinality k(attnum, ord)
     join pg_attribute a on a.attrelid = ${relation} and a.attnum = k.attnum order by ord)`;

/** Maps each rule to the query for its violations. */
const schemaRules: Record<string, string> = {
  'every table belongs to an organization, or is the organizations themselves': `select t.relname as name from (${tablesSql}) t where not ${hasOrgIdSql} and t.relname <> 'orgs'`,
  'row security is on, and forced': `select t.relname as name from (${tablesSql}) t where not (t.relrowsecurity and t.relforcerowsecurity)`,
  'the service sees and writes the rows of its own organization only, by one policy': `select t.relname as name from (${tablesSql}) t where (
       select coalesce(array_agg(pg_get_expr(p.polqual, p.polrelid)
           || coalesce(' check ' || pg_get_expr(p.polwithcheck, p.polrelid), '')), '{}')
       from pg_policy p where p.polrelid = t.oid and (p.polroles && array['muster_app'::regrole::oid, 0::oid]) and p.polcmd = '*'
     ) is distinct from array[case t.relname when 'orgs' then '(id = app.org_id())'
                                             else '(org_id = app.org_id())' end]`,
  'no policy is for everybody, or for somebody unknown': `select p.polname as name from pg_policy p where not (p.polroles <@ array(
       select oid from pg_roles where rolname in ('muster_app', 'muster_operator', 'muster_door', 'muster_platform', 'muster_worker')))`,
  'org_id leads in every primary key': `select t.relname as name from (${tablesSql}) t where ${hasOrgIdSql} and not exists (
       select from pg_constraint c where c.conrelid = t.oid and c.contype = 'p'
         and (${columnsOf('c.conrelid', 'c.conkey')})[1] = 'org_id')`,
  // A token is found by its hash before its organization is known.
  'org_id leads in every unique key, but the hashes of tokens and of invitations': `select i.indexrelid::regclass::text as name from pg_index i join (${tablesSql}) t on t.oid = i.indrelid
     where ${hasOrgIdSql} and i.indisunique and (${columnsOf('i.indrelid', 'i.indkey::int2[]')})[1] is distinct from 'org_id'
       and i.indexrelid::regclass::text not in ('tokens_hash_key', 'invitations_token_hash_key')`,
  // Foreign-key checks bypass row-level security: one without org_id would accept another organization's row.
  'every foreign key takes org_id along, to org_id': `select c.conname as name from pg_constraint c join (${tablesSql}) t on t.oid = c.conrelid
     where c.contype = 'f' and c.confrelid <> 'orgs'::regclass and not exists (
       select from unnest(${columnsOf('c.conrelid', 'c.conkey')}, ${columnsOf('c.confrelid', 'c.confkey')}) k(here, there)
       where here = 'org_id' and there = 'org_id')`,
  'only org_id refers to an organization': `select c.conname as name from pg_constraint c where c.contype = 'f' and c.confrelid = 'orgs'::regclass
       and ${columnsOf('c.conrelid', 'c.conkey')} <> array['org_id']`,
  // Otherwise a temporary table of the caller could replace the intended one.
  'functions that run as their owner say where they look for names, and look among temporary ones last': `select p.oid::regprocedure::text as name from pg_proc p
     where p.pronamespace in ('app'::regnamespace, 'public'::regnamespace) and p.prosecdef
       and not exists (select from unnest(p.proconfig) setting where setting like 'search_path=%, pg_temp')`,
  'functions that run as their owner are the door or the platform, or keep the months, and not for everybody': `select p.oid::regprocedure::text as name from pg_proc p
     where p.prosecdef and p.pronamespace in ('app'::regnamespace, 'public'::regnamespace)
       and (p.proowner not in ('muster_door'::regrole, 'muster_platform'::regrole) and p.oid <> 'app.keep_months(int)'::regprocedure or has_function_privilege('public', p.oid, 'execute'))`,
  'no role of the services reaches a month of a table by itself': `select c.relname as name from pg_class c, unnest(array['muster_app', 'muster_operator', 'muster_door', 'muster_platform', 'muster_worker']) role
     where c.relnamespace = 'months'::regnamespace and c.relkind in ('r', 'p') and (not c.relrowsecurity
       or has_schema_privilege(role, 'months', 'usage')
       or has_any_column_privilege(role, c.oid, 'select, insert, update, references') or has_table_privilege(role, c.oid, 'delete, truncate, trigger'))`,
  'nothing refers to a table that is kept by month': `select c.conname as name from pg_constraint c join pg_class t on t.oid = c.confrelid
     where c.contype = 'f' and t.relkind = 'p'`,
  'no view looks past row security': `select c.relname as name from pg_class c where c.relkind in ('v', 'm')
       and c.relnamespace in ('app'::regnamespace, 'public'::regnamespace)
       and not coalesce(c.reloptions @> array['security_invoker=true'], false)`,
};

describe('the catalogue', () => {
  it.each(Object.entries(schemaRules))('%s', async (_law, query) => {
    expect(await names(query)).toEqual([]);
  });

  it('would tell of a table that somebody made without care', async () => {
    await database.owner.query(`
      create schema elsewhere;
      create table careless (id uuid primary key, org_id uuid references orgs (id), creator uuid references orgs (id), token bytea unique);
      create table homeless (id int);
      create policy open on careless using (true);
      create table half (org_id uuid, id uuid, other uuid references careless (id), primary key (org_id, id));
      alter table half enable row level security;
      create policy own_organization on half to muster_app using (org_id = app.org_id());
      create policy also on half to muster_app using (true);
      create function app.leak() returns bigint language sql security definer return (select count(*) from public.members);
      create view everybody as select * from members;
      create table months.open (org_id uuid);
      create table split (org_id uuid primary key) partition by range (org_id);
      create table pointing (org_id uuid references split);`);
    try {
      const found = await Promise.all(
        Object.values(schemaRules).map(async (query) => (await names(query)).length > 0),
      );
      expect(found).toEqual(found.map(() => true));
    } finally {
      await database.owner.query(
        'drop view everybody; drop function app.leak(); drop table half, homeless, careless, months.open, pointing, split; drop schema elsewhere',
      );
    }
  });
});

describe('the roles', () => {
  it('cannot log in, own nothing that matters, and bypass nothing', async () => {
    expect(
      await names(`select rolname as name from pg_roles where rolname like 'muster%'
        and (rolsuper or rolbypassrls or rolcanlogin or rolcreaterole or rolcreatedb or rolreplication)`),
    ).toEqual([]);
    expect(
      await names(`select m.roleid::regrole::text as name from pg_auth_members m
        where m.member in (select oid from pg_roles where rolname like 'muster%')`),
    ).toEqual([]);
    expect(
      await names(`select c.relname as name from pg_class c where c.relowner in (select oid from pg_roles where rolname like 'muster%')
        union all select p.proname from pg_proc p where p.proowner in ('muster_app'::regrole, 'muster_operator'::regrole, 'muster_worker'::regrole)`),
    ).toEqual([]);
    expect(
      await names(`select nspname as name from pg_namespace, unnest(array['muster_app', 'muster_operator', 'muster_door', 'muster_platform', 'muster_worker']) role
      where has_schema_privilege(role, nspname, 'create') and nspname in ('app', 'public')`),
    ).toEqual([]);
  });

  /** Lists `table: privileges` of a role, except reading. */
  const grants = (role: string) =>
    names(`select t.relname || ': ' || string_agg(privilege, ' ' order by privilege) as name
      from (select oid, relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')) t,
        unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) privilege
      where has_table_privilege('${role}', t.oid, privilege) group by t.relname order by t.relname`);

  it('leave the service no way to change or remove what is only to be added to', async () => {
    const ofService = await grants('muster_app');
    const limited = ofService.filter((line) => !line.endsWith(': DELETE INSERT UPDATE'));
    expect(limited).toEqual([
      'activity: INSERT',
      'agent_runs: INSERT UPDATE',
      'audit: INSERT',
      'catalog_tombstones: INSERT',
      'catalog_versions: DELETE INSERT',
      'code_change_files: DELETE INSERT',
      'contract_stories: INSERT',
      'contract_versions: INSERT',
      'contracts: INSERT UPDATE',
      'execution_events: INSERT',
      'forge_checks: INSERT',
      'forge_deliveries: INSERT UPDATE',
      'forge_observations: INSERT',
      'inbox_items: INSERT',
      'inbox_streams: INSERT UPDATE',
      'notifications: INSERT UPDATE',
      'orgs: UPDATE',
      'point_entries: INSERT UPDATE',
      'run_logs: DELETE INSERT',
      'run_usage: INSERT UPDATE',
      'seat_ledger: INSERT',
      'seat_usage: INSERT UPDATE',
      'story_specs: DELETE INSERT',
      'usage_days: INSERT UPDATE',
      'webhook_deliveries: INSERT UPDATE',
      'webhooks: INSERT UPDATE',
    ]);
    // The role may only read the migrator's records to check that they are current.
    expect(
      await names(`select t.relname as name from pg_class t where t.relnamespace = 'app'::regnamespace and t.relkind = 'r'
        and has_table_privilege('muster_app', t.oid, 'insert, update, delete, truncate')`),
    ).toEqual([]);
    for (const table of ['activity', 'audit']) {
      await expect(database.app.query(`update ${table} set actor = actor`)).rejects.toMatchObject({
        code: '42501',
      });
      await expect(database.app.query(`delete from ${table}`)).rejects.toMatchObject({ code: '42501' });
      await expect(database.app.query(`truncate ${table}`)).rejects.toMatchObject({ code: '42501' });
    }
    await expect(database.app.query(`update story_specs set content = ''`)).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('let the worker dispatch what is due and remove what is past its day, and read nothing of it', async () => {
    // The worker may delete from any table, to remove what refers to a deleted project or organization.
    const all = await names(`select t.relname as name from (${tablesSql}) t where not exists (
      select from pg_inherits i where i.inhrelid = t.oid) order by 1`);
    expect(await grants('muster_worker')).toEqual(all.map((name) => `${name}: DELETE`));
    expect(
      await names(`select c.table_name || '.' || c.column_name as name from information_schema.columns c
        where c.table_schema = 'public' and c.column_name in ('payload', 'actor', 'data', 'subject', 'title', 'description', 'response', 'holder', 'resources', 'token_hash', 'hash', 'body', 'content', 'message', 'email', 'push_token', 'secret', 'url', 'answer')
          and has_column_privilege('muster_worker', format('%I.%I', c.table_schema, c.table_name)::regclass, c.column_name, 'select')`),
    ).toEqual([]);
  });

  it('let the platform read who is where and how much there is, and nothing that anybody wrote', async () => {
    expect(await grants('muster_platform')).toEqual([]);
    expect(
      await names(`select c.table_name || '.' || c.column_name as name from information_schema.columns c
        where c.table_schema = 'public' and c.table_name <> 'teams'
          and has_column_privilege('muster_platform', format('%I.%I', c.table_schema, c.table_name)::regclass, c.column_name, 'select')
          and c.column_name not in ('org_id', 'id', 'created_at', 'updated_at', 'version', 'status')
        order by 1`),
    ).toEqual([
      'audit.at',
      'audit.seq',
      'members.email',
      'members.name',
      'members.role',
      'orgs.deleted_at',
      'orgs.name',
      'orgs.slug',
      'outbox.attempts',
      'outbox.dead_at',
      'outbox.dispatch_after',
      'outbox.done_at',
      'outbox.topic',
      'stories.project_id',
      'streams.audit',
      'streams.audit_lost_after',
      'streams.lost_after',
      'streams.lost_until',
      'subscriptions.current_period_end',
      'subscriptions.plan',
      'subscriptions.seats',
      'team_members.team_id',
      'tokens.expires_at',
      'tokens.hash',
      'tokens.member_id',
      'tokens.revoked_at',
      'tokens.scopes',
    ]);
  });

  it('let the door read and keep what a search finds by, and operators keep who is in an organization', async () => {
    expect(await grants('muster_door')).toEqual([
      'search_documents: DELETE INSERT UPDATE',
      'search_words: INSERT',
    ]);
    expect(await grants('muster_operator')).toEqual([
      'agents: INSERT UPDATE',
      'audit: INSERT',
      'members: INSERT UPDATE',
      'orgs: INSERT UPDATE',
      'outbox: UPDATE',
      'rights_epochs: INSERT',
      'streams: INSERT UPDATE',
      'subscriptions: INSERT UPDATE',
      'tokens: INSERT UPDATE',
    ]);
  });
});
