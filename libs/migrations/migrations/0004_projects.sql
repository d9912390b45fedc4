-- Projects, and who may do what in them.

create table projects (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  key text collate "C" not null,
  name text not null,
  description text not null default '',
  visibility text not null check (visibility in ('org', 'private')),
  repository jsonb,
  origin text not null check (origin in ('hosted', 'converted')),
  -- The client's own id of the local board this was converted from, and the answer given then.
  local_project_id text,
  conversion jsonb,
  archived_at timestamptz(3),
  -- It is gone for everybody but the worker, who removes its rows in portions, and this one last. Its key is free.
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  -- Which project does a key mean? Also the order of lists.
  unique (org_id, key),
  check (key ~ '^[A-Z][A-Z0-9]{1,9}$' or deleted_at is not null)
);
-- Was this local board converted before?
create unique index projects_local on projects (org_id, local_project_id) where local_project_id is not null;
-- Which projects are to be removed?
create index projects_deleted on projects (deleted_at) where deleted_at is not null;
call app.guard_table('projects');
call app.open_table('projects', 'muster_door', 'select');
call app.open_table('projects', 'muster_operator', 'select');
call app.open_table('projects', 'muster_platform', 'select (org_id, id)');
call app.open_table('projects', 'muster_worker', 'select (deleted_at)');
-- Nobody sees one that was deleted, by whatever query: all that is in a project is found by way of it. Whoever deletes one
-- sees it to the end of the transaction.
create policy standing on projects as restrictive for select to muster_door, muster_operator, muster_platform
  using (deleted_at is null);
create policy standing_or_going on projects as restrictive for select to muster_app
  using (deleted_at is null or current_setting('muster.deleting', true) = id::text);

-- What is counted per project, on a row of its own: it is locked until commit, and the project's row must not be.
create table project_counters (
  org_id uuid not null,
  project_id uuid not null,
  last_story_number int not null default 0,
  canceled_stories int not null default 0,
  primary key (org_id, project_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
call app.guard_table('project_counters');

create table project_members (
  org_id uuid not null,
  project_id uuid not null,
  member_id uuid not null,
  role text not null check (role in ('lead', 'contributor', 'viewer')),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, project_id, member_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
-- Which projects is a member in?
create index project_members_member on project_members (org_id, member_id);
call app.guard_table('project_members');
call app.open_table('project_members', 'muster_door', 'select');

create table project_teams (
  org_id uuid not null,
  project_id uuid not null,
  team_id uuid not null,
  role text not null check (role in ('lead', 'contributor', 'viewer')),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, project_id, team_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, team_id) references teams (org_id, id) on delete cascade
);
-- Which projects is a team in?
create index project_teams_team on project_teams (org_id, team_id);
call app.guard_table('project_teams');
call app.open_table('project_teams', 'muster_door', 'select');

-- A member asks for a role in a project, also in a private one; a lead of it decides.
create table access_requests (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  member_id uuid not null,
  -- As asked for; once approved, as given.
  role text not null check (role in ('lead', 'contributor', 'viewer')),
  message text,
  state text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
  resolved_by jsonb,
  resolved_at timestamptz(3),
  note text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  check ((state = 'pending') = (resolved_at is null) and (resolved_at is null) = (resolved_by is null))
);
-- Has this member asked and not been answered? There is at most one such request.
create unique index access_requests_pending on access_requests (org_id, project_id, member_id) where state = 'pending';
-- Who asked to come into a project? Newest first, all of them or those in one state.
create index access_requests_project on access_requests (org_id, project_id, id desc);
create index access_requests_state on access_requests (org_id, project_id, state, id desc);
-- What did a member ask for?
create index access_requests_member on access_requests (org_id, member_id);
call app.guard_table('access_requests');
call app.open_table('access_requests', 'muster_worker', 'select (resolved_at)');
call app.open_table('access_requests', 'muster_door', 'select');

-- What becomes of the rights of an organization. The services remember what a token may do, together with the epoch that
-- they found it in, and app.enter takes their word for it while the epoch is still the same. So whatever can take a right
-- away begins another epoch, in the same transaction.

-- A random value and no counter: a database that was restored to an earlier time never has an epoch again that a
-- service remembers from after that time.
create table rights_epochs (
  org_id uuid primary key references orgs (id) on delete cascade,
  epoch uuid not null default gen_random_uuid()
);
call app.guard_table('rights_epochs', 'select');
call app.open_table('rights_epochs', 'muster_door', 'select, insert (org_id), update (epoch)');
call app.open_table('rights_epochs', 'muster_operator', 'select, insert');

create function app.begin_first_epoch() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into rights_epochs (org_id) values (new.id);
  return null;
end $$;
create trigger orgs_first_epoch after insert on orgs for each row execute function app.begin_first_epoch();

-- Once for each organization in a transaction, however many rows change.
create function app.begin_epoch() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  begun text := coalesce(current_setting('muster.epochs_begun', true), '');
begin
  if position(old.org_id::text in begun) > 0 then return null; end if;
  update rights_epochs set epoch = gen_random_uuid() where org_id = old.org_id;
  perform set_config('muster.epochs_begun', begun || ' ' || old.org_id, true);
  return null;
end $$;
call app.hand_over('app.begin_epoch()', 'muster_door');

-- Deferred, so that the row of the epochs is the very last that a transaction locks: nobody who has it waits for anybody.
-- Such a trigger cannot be replaced, so it stands here and not with the functions. Only what may take a right away is
-- watched: what is remembered is what a caller may do, never what a caller may not. A member that is removed takes its
-- tokens along, and an organization that is deleted revokes them.
create constraint trigger tokens_changed after update of org_id, member_id, agent_id, hash, scopes, project_ids, may_read_inbox, expires_at, revoked_at
  on tokens deferrable initially deferred for each row
  when ((old.org_id, old.member_id, old.agent_id, old.hash, old.scopes, old.project_ids, old.may_read_inbox, old.expires_at, old.revoked_at)
    is distinct from (new.org_id, new.member_id, new.agent_id, new.hash, new.scopes, new.project_ids, new.may_read_inbox, new.expires_at, new.revoked_at))
  execute function app.begin_epoch();
-- One that was over lets nobody in: to purge it changes nothing.
create constraint trigger tokens_gone after delete on tokens deferrable initially deferred for each row
  when (old.revoked_at is null and (old.expires_at is null or old.expires_at > now()))
  execute function app.begin_epoch();
create constraint trigger members_changed after update of role, status on members deferrable initially deferred for each row
  when ((old.role, old.status) is distinct from (new.role, new.status))
  execute function app.begin_epoch();
create constraint trigger projects_changed after update of visibility, archived_at, deleted_at on projects deferrable initially deferred for each row
  when ((old.visibility, old.archived_at, old.deleted_at) is distinct from (new.visibility, new.archived_at, new.deleted_at))
  execute function app.begin_epoch();
create constraint trigger projects_gone after delete on projects deferrable initially deferred for each row
  execute function app.begin_epoch();
create constraint trigger project_members_changed after update on project_members deferrable initially deferred for each row
  when (old.* is distinct from new.*)
  execute function app.begin_epoch();
create constraint trigger project_members_gone after delete on project_members deferrable initially deferred for each row
  execute function app.begin_epoch();
create constraint trigger project_teams_changed after update on project_teams deferrable initially deferred for each row
  when (old.* is distinct from new.*)
  execute function app.begin_epoch();
create constraint trigger project_teams_gone after delete on project_teams deferrable initially deferred for each row
  execute function app.begin_epoch();
create constraint trigger team_members_changed after update of org_id, team_id, member_id on team_members deferrable initially deferred for each row
  when ((old.org_id, old.team_id, old.member_id) is distinct from (new.org_id, new.team_id, new.member_id))
  execute function app.begin_epoch();
create constraint trigger team_members_gone after delete on team_members deferrable initially deferred for each row
  execute function app.begin_epoch();
