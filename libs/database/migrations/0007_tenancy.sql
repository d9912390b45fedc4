-- Row security: the second layer. Each table with org_id shows muster_app the rows of the organization that this
-- transaction entered, and takes no others; forced, so that it holds for an owner as well. The door's functions
-- look across organizations, since they find out which one a token is in.
do $$
declare
  guarded text;
begin
  foreach guarded in array array[
    'subscriptions', 'members', 'agents', 'teams', 'team_members', 'tokens', 'invitations',
    'projects', 'project_counters', 'project_members', 'project_teams',
    'board_columns', 'epics', 'stories', 'story_blockers', 'story_specs', 'story_selections', 'assignments',
    'comments', 'comment_reactions',
    'streams', 'activity', 'audit', 'outbox', 'idempotency_keys'] loop
    execute format('alter table %I enable row level security, force row level security', guarded);
    execute format('create policy own_organization on %I to muster_app using (org_id = app.org_id())', guarded);
  end loop;
  foreach guarded in array array[
    'members', 'agents', 'tokens', 'team_members', 'projects', 'project_members', 'project_teams',
    'stories', 'story_blockers', 'board_columns', 'epics', 'comments'] loop
    execute format('create policy the_door on %I to muster_door using (true)', guarded);
  end loop;
  -- Row security is forced, so the owner too sees nothing, unless it is a superuser: operators have a role of their own.
  foreach guarded in array array[
    'orgs', 'subscriptions', 'members', 'agents', 'tokens', 'projects', 'streams', 'audit'] loop
    execute format('create policy operators on %I to muster_operator using (true)', guarded);
  end loop;
end $$;

alter table orgs enable row level security, force row level security;
create policy own_organization on orgs to muster_app using (id = app.org_id());
create policy the_door on orgs to muster_door using (true);

grant select, insert, update, delete on all tables in schema public to muster_app;
grant select, insert, update on orgs, subscriptions, members, agents, tokens, streams to muster_operator;
grant select on projects to muster_operator;
grant insert on audit to muster_operator;
-- Organizations come and go by the operators' hand alone.
revoke insert, delete on orgs from muster_app;
-- What is left behind stays: no change, no removal.
revoke update, delete on activity, audit from muster_app;
-- A version of a spec is never rewritten.
revoke update on story_specs from muster_app;
-- Kysely's own bookkeeping is the migrator's.
do $$ begin
  if to_regclass('public.kysely_migration') is not null then
    revoke all on kysely_migration, kysely_migration_lock from muster_app;
    grant select on kysely_migration to muster_app;
  end if;
end $$;

-- Puts a table of a later migration under the same guard. `rights` is what the services may do to its rows.
create procedure app.guard_table(guarded regclass, rights text default 'select, insert, update, delete')
language plpgsql set search_path = pg_catalog, public as $$
begin
  execute format('alter table %s enable row level security, force row level security', guarded);
  execute format('create policy own_organization on %s to muster_app using (org_id = app.org_id())', guarded);
  execute format('grant %s on %s to muster_app', rights, guarded);
end $$;
revoke all on procedure app.guard_table(regclass, text) from public;
