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
call app.open_table('rights_epochs', 'muster_door', 'select, update (epoch)');
call app.open_table('rights_epochs', 'muster_operator', 'select, insert');

create function app.begin_first_epoch() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into rights_epochs (org_id) values (new.id);
  return null;
end $$;
create trigger orgs_first_epoch after insert on orgs for each row execute function app.begin_first_epoch();
set local role muster_operator;
insert into rights_epochs (org_id) select id from orgs;
reset role;

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
