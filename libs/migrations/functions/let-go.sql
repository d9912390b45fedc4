-- Functions that clear a reference when the referenced row is deleted and the referencing row stays. A
-- foreign key could set the columns to null, but not every engine supports this if the key begins with the
-- organization. They run as muster_door. A caller that deletes a story may not update a version of a
-- contract, and the owner, who runs cascades, sees no rows under forced row-level security. If the project
-- itself is deleted, all of these rows are deleted with it, and none is updated.
create or replace function app.project_stays(org uuid, project uuid) returns boolean
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
begin
  return exists (select 1 from projects p where p.org_id = org and p.id = project);
end $$;

create or replace function app.let_go_of_story() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not app.project_stays(old.org_id, old.project_id) then return old; end if;
  update locks l set story_id = null where l.org_id = old.org_id and l.project_id = old.project_id and l.story_id = old.id;
  update agent_runs r set story_id = null where r.org_id = old.org_id and r.story_id = old.id;
  update contract_versions v set story_id = null where v.org_id = old.org_id and v.story_id = old.id;
  return old;
end $$;
call app.hand_over('app.let_go_of_story()', 'muster_door');
create or replace trigger stories_let_go before delete on stories for each row execute function app.let_go_of_story();

-- The counts of the epic itself need not and cannot be updated, since its row is being deleted.
create or replace function app.let_go_of_epic() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  counts constant text := coalesce(current_setting('muster.counts', true), '');
begin
  if not app.project_stays(old.org_id, old.project_id) then return old; end if;
  perform set_config('muster.counts', 'by hand', true);
  update stories s set epic_id = null, version = s.version + 1, updated_at = now()
    where s.org_id = old.org_id and s.epic_id = old.id;
  perform set_config('muster.counts', counts, true);
  return old;
end $$;
call app.hand_over('app.let_go_of_epic()', 'muster_door');
create or replace trigger epics_let_go before delete on epics for each row execute function app.let_go_of_epic();

create or replace function app.let_go_of_execution() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not app.project_stays(old.org_id, old.project_id) then return old; end if;
  update agent_runs r set execution_id = null where r.org_id = old.org_id and r.execution_id = old.id;
  return old;
end $$;
call app.hand_over('app.let_go_of_execution()', 'muster_door');
create or replace trigger executions_let_go before delete on executions for each row execute function app.let_go_of_execution();
