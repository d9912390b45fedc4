-- What every table stands on: the roles, the schema of functions, and the guard of each table.

-- The roles that everything else is granted to. They are the server's, not the database's, so they may exist.
--   muster_app   what the services run as: owns nothing, bypasses nothing, sees one organization at a time.
--   muster_operator  what the operators' command line runs as: all organizations, but only who is in them.
--   muster_door  owns the functions that let somebody in; it alone reads tokens and members across organizations.
--   muster_platform  owns the functions that show operators of the installation what is in all organizations.
--   muster_worker  dispatches and purges; it reads no record of an organization, whose jobs run as muster_app
--                  inside that organization, under the same row security as every call.
--   muster_sign_in  what the app sign-in runs as: it has the schema sign_in, and reads no organization's content.
do $$
declare wanted text;
begin
  foreach wanted in array array['muster_app', 'muster_operator', 'muster_door', 'muster_platform', 'muster_worker', 'muster_sign_in'] loop
    begin
      if not exists (select from pg_roles where rolname = wanted) then
        execute format('create role %I nologin', wanted);
      end if;
    exception when duplicate_object or unique_violation then null; -- another database of this server was faster
    end;
  end loop;
end $$;
-- Whoever migrates hands functions over to the door, and may run as the services do.
grant muster_app, muster_operator, muster_door, muster_platform, muster_worker, muster_sign_in to current_user;

grant usage on schema app to muster_app, muster_operator, muster_door, muster_platform, muster_worker, muster_sign_in;
grant usage on schema public to muster_app, muster_operator, muster_door, muster_platform, muster_worker;

-- No table of a session stands in front of one of ours. Functions that run as their owner look for such tables last
-- besides, for a copy of this database has the rights of every new database again.
do $$ begin
  execute format('revoke temporary on database %I from public', current_database());
end $$;

-- The migrator's books: the services look whether they are current. It has made the schema and the first book itself.
grant select on app.applied_migrations to muster_app, muster_sign_in;
-- What stands in functions/, as it was run last.
create table app.function_files (
  name text primary key,
  sha256 text not null,
  -- The last release that was made when it was written: what comes later is never replaced by what was before.
  release text not null,
  applied_at timestamptz(3) not null default now()
);
grant select on app.function_files to muster_app, muster_sign_in;

-- The organization this transaction is in; null outside one, and then every policy hides every row.
create function app.org_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('muster.org_id', true), '')::uuid;

-- Lets the worker remove rows of whatever organization: it sees how they hang together, and nothing that stands in them.
create procedure app.let_worker_remove(removed regclass)
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  execute format('create policy worker on %s to muster_worker using (true)', removed);
  execute format('grant delete, select (%s) on %s to muster_worker', (
    select string_agg(distinct quote_ident(a.attname), ', ')
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
    where c.conrelid = removed and c.contype in ('p', 'f')), removed);
end $$;

-- Row security: the second layer. Each table with org_id shows muster_app the rows of the organization that this
-- transaction entered, and takes no others; forced, so that it holds for an owner as well. `rights` is what the services
-- may do to its rows.
create procedure app.guard_table(guarded regclass, rights text default 'select, insert, update, delete')
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  execute format('alter table %s enable row level security, force row level security', guarded);
  execute format('create policy own_organization on %s to muster_app using (org_id = app.org_id())', guarded);
  execute format('grant %s on %s to muster_app', rights, guarded);
  call app.let_worker_remove(guarded);
end $$;

-- Shows a table's rows of all organizations to another role, which has just these rights to it: `select (id, name)`.
create procedure app.open_table(opened regclass, opened_to regrole, rights text)
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select 1 from pg_policy p where p.polrelid = opened and p.polname = replace(opened_to::text, 'muster_', '')) then
    execute format('create policy %I on %s to %s using (true)', replace(opened_to::text, 'muster_', ''), opened, opened_to);
  end if;
  execute format('grant %s on %s to %s', rights, opened, opened_to);
end $$;

-- Has a function run as its owner (security definer) run as another role than the migrator's; not everybody calls it.
create procedure app.hand_over(handed regprocedure, new_owner regrole)
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  execute format('grant create on schema app to %s', new_owner);
  execute format('alter function %s owner to %s', handed, new_owner);
  execute format('revoke create on schema app from %s', new_owner);
  execute format('revoke all on function %s from public', handed);
end $$;

-- The months of the tables that grow with all that happens. No role of the services gets here: rows are read and written
-- by way of the table that the months are of, under its row security and its grants.
create schema months;

-- Gives a table that is partitioned by its column `at` a place for rows of months that have none (app.keep_months).
create procedure app.keep_by_month(kept regclass)
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  execute format('create table months.%I partition of %s default', kept || '_else', kept);
  execute format('alter table months.%I enable row level security', kept || '_else');
end $$;

revoke all on procedure app.keep_by_month(regclass), app.let_worker_remove(regclass), app.guard_table(regclass, text), app.open_table(regclass, regrole, text),
  app.hand_over(regprocedure, regrole) from public;
