-- Deleted stories are kept for 30 days, as copies of the rows that their deletion removes.

-- Copies a story and its rows before it is deleted. Locks, leases, and memberships in open delivery groups end with
-- the story and are not copied.
create or replace function app.keep_deleted_story(story uuid, deleter jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
  org constant uuid := app.org_id();
begin
  insert into deleted_stories (org_id, id, project_id, number, title, deleted_by)
    select s.org_id, s.id, s.project_id, s.number, s.title, deleter from stories s where s.org_id = org and s.id = story;
  insert into deleted_records (org_id, story_id, nth, kind, record)
    select org, story, row_number() over (order by k.step, k.place), k.kind, k.record from (
      select 1 as step, 0 as place, 'stories' as kind, to_jsonb(t) as record from stories t
        where t.org_id = org and t.id = story
      union all select 2, t.version, 'story_specs', to_jsonb(t) from story_specs t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'comments', to_jsonb(t) from comments t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'comment_reactions', to_jsonb(t) from comment_reactions t
        where t.org_id = org and t.comment_id in (select c.id from comments c where c.org_id = org and c.story_id = story)
      union all select 2, 0, 'attachments', to_jsonb(t) from attachments t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'assignments', to_jsonb(t) from assignments t
        where t.org_id = org and t.target_type = 'story' and t.target_id = story
      union all select 2, 0, 'story_reviewers', to_jsonb(t) from story_reviewers t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'story_selections', to_jsonb(t) from story_selections t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'story_subscriptions', to_jsonb(t) from story_subscriptions t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'story_blockers', to_jsonb(t) from story_blockers t
        where t.org_id = org and (t.story_id = story or t.blocker_id = story)
      union all select 2, 0, 'budgets', to_jsonb(t) from budgets t where t.org_id = org and t.story_id = story
      union all select 2, 0, 'contract_stories', to_jsonb(t) from contract_stories t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'delivery_group_stories', to_jsonb(t) from delivery_group_stories t
        where t.org_id = org and t.story_id = story and not t.open
      union all select 2, 0, 'executions', to_jsonb(t) from executions t
        where t.org_id = org and t.target_type = 'story' and t.target_id = story
      union all select 2, 0, k.kind, k.record from executions e cross join lateral (
          select 'execution_events' as kind, to_jsonb(t) as record from execution_events t
            where t.org_id = org and t.execution_id = e.id
          union all select 'execution_contributors', to_jsonb(t) from execution_contributors t
            where t.org_id = org and t.execution_id = e.id
          union all select 'forge_observations', to_jsonb(t) from forge_observations t
            where t.org_id = org and t.execution_id = e.id
          union all select 'forge_pulls', to_jsonb(t) from forge_pulls t where t.org_id = org and t.execution_id = e.id
          union all select 'code_changes', to_jsonb(t) from code_changes t where t.org_id = org and t.execution_id = e.id
          union all select 'code_change_files', to_jsonb(t) from code_changes c
            join code_change_files t on t.org_id = org and t.changes_id = c.id
            where c.org_id = org and c.execution_id = e.id) k
        where e.org_id = org and e.target_type = 'story' and e.target_id = story
      -- References that the deletion clears, in rows that stay.
      union all select 2, 0, 'children', jsonb_build_object('id', t.id) from stories t
        where t.org_id = org and t.parent_id = story
      union all select 2, 0, 'agent_runs', jsonb_build_object('id', t.id, 'execution_id', t.execution_id) from agent_runs t
        where t.org_id = org and t.story_id = story
      union all select 2, 0, 'contract_versions', jsonb_build_object('contract_id', t.contract_id, 'version', t.version)
        from contract_versions t where t.org_id = org and t.story_id = story) k;
end $$;

-- Inserts the copied rows of one table. A column that was added after the copy gets its default.
create or replace function app.restore_records(story uuid, restored text) returns void
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
  org constant uuid := app.org_id();
  sample constant jsonb := (select d.record from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = restored limit 1);
  columns text;
  fields text;
begin
  select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
      string_agg('r.' || quote_ident(a.attname), ', ' order by a.attnum) into columns, fields from pg_attribute a
    where a.attrelid = to_regclass('public.' || quote_ident(restored)) and a.attnum > 0 and not a.attisdropped
      and a.attgenerated = ''
      and sample ? a.attname;
  if columns is null then return; end if;
  execute format('insert into public.%I (%s) select %s from deleted_records d
    cross join lateral jsonb_populate_record(null::public.%I, d.record) r
    where d.org_id = $1 and d.story_id = $2 and d.kind = $3 order by d.nth on conflict do nothing',
    restored, columns, fields, restored) using org, story, restored;
end $$;

-- Sets the story of versions of contracts again. Callers may not change these versions.
create or replace function app.restore_contract_versions(story uuid, copies jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update contract_versions v set story_id = story
    from jsonb_to_recordset(copies) c (contract_id uuid, version int)
    where v.org_id = app.org_id() and v.contract_id = c.contract_id and v.version = c.version and v.story_id is null;
end $$;
call app.hand_over('app.restore_contract_versions(uuid, jsonb)', 'muster_door');
grant execute on function app.restore_contract_versions(uuid, jsonb) to muster_app;

-- Postpones the deletion of attachments' files, or keeps them if no time is given.
create or replace function app.postpone_file_deletions(attachment_ids uuid[], until timestamptz) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  keys constant text[] := array(select app.org_id() || '/' || a.id from unnest(attachment_ids) a (id));
begin
  if until is null then
    delete from app.file_deletions f where f.key = any (keys);
  else
    update app.file_deletions f set due_at = until where f.key = any (keys);
  end if;
end $$;
call app.hand_over('app.postpone_file_deletions(uuid[], timestamptz)', 'muster_door');
grant execute on function app.postpone_file_deletions(uuid[], timestamptz) to muster_app;

-- Restores a deleted story into a place on the board, and removes its copy. The caller has locked the project's
-- counters and the column. Dependencies on stories that were deleted or moved to another project, or that would close
-- a cycle, are left out. Returns the other stories that changed, with the changed field.
create or replace function app.restore_story(story uuid, into_column uuid, into_status text, into_rank text)
returns table (id uuid, project_id uuid, project_key text, number int, title text, field text)
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
declare
  org constant uuid := app.org_id();
  copy jsonb := (select d.record from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'stories');
  project constant uuid := (copy ->> 'project_id')::uuid;
  former_parent constant uuid := (copy ->> 'parent_id')::uuid;
  waiters uuid[];
  blockers uuid[];
  children uuid[];
  waiting uuid[];
  restored text;
begin
  copy := copy || jsonb_build_object(
    'upstream', case when not exists (select 1 from stories o where o.org_id = org and o.project_id = project
      and o.upstream ->> 'provider' = copy #>> '{upstream,provider}'
      and o.upstream ->> 'externalId' = copy #>> '{upstream,externalId}') then copy -> 'upstream' end,
    'column_id', into_column, 'status', into_status, 'rank', into_rank, 'blocked_by', '[]'::jsonb,
    'completed_at', case when into_status = copy ->> 'status' then copy -> 'completed_at' end,
    'epic_id', (select e.id from epics e where e.org_id = org and e.id = (copy ->> 'epic_id')::uuid),
    'parent_id', (select p.id from stories p
      where p.org_id = org and p.project_id = project and p.id = (copy ->> 'parent_id')::uuid and p.parent_id is null),
    'version', (copy ->> 'version')::int + 1, 'updated_at', now());
  update deleted_records d set record = copy where d.org_id = org and d.story_id = story and d.kind = 'stories';

  waiters := array(select s.id from stories s where s.org_id = org and s.project_id = project
    and s.id in (select (d.record ->> 'story_id')::uuid from deleted_records d
      where d.org_id = org and d.story_id = story and d.kind = 'story_blockers'));
  blockers := array(select s.id from stories s where s.org_id = org and s.project_id = project
    and s.id in (select (d.record ->> 'blocker_id')::uuid from deleted_records d
      where d.org_id = org and d.story_id = story and d.kind = 'story_blockers'));
  children := array(select s.id from stories s where s.org_id = org and s.project_id = project and s.parent_id is null
    and copy ->> 'parent_id' is null
    and not exists (select 1 from stories c where c.org_id = org and c.parent_id = s.id)
    and s.id in (select (d.record ->> 'id')::uuid from deleted_records d
      where d.org_id = org and d.story_id = story and d.kind = 'children'));
  perform s.id from stories s where s.org_id = org and s.id = any (waiters || children) order by s.id for no key update;

  -- If the other story of a dependency is deleted too, its copy gets the dependency, so that it comes back with it.
  insert into deleted_records (org_id, story_id, nth, kind, record)
    select org, o.story_id, o.nth + row_number() over (partition by o.story_id order by d.nth), d.kind, d.record
    from deleted_records d
    join lateral (select r.story_id, max(r.nth) as nth from deleted_records r
      where r.org_id = org and r.story_id <> story
        and r.story_id in ((d.record ->> 'story_id')::uuid, (d.record ->> 'blocker_id')::uuid) group by r.story_id) o on true
    where d.org_id = org and d.story_id = story and d.kind = 'story_blockers';
  update deleted_records c set record = c.record || jsonb_build_object('parent_id', story)
    from deleted_records d where d.org_id = org and d.story_id = story and d.kind = 'children'
      and c.org_id = org and c.story_id = (d.record ->> 'id')::uuid and c.kind = 'stories' and c.record ->> 'parent_id' is null;
  insert into deleted_records (org_id, story_id, nth, kind, record)
    select org, former_parent, (select max(r.nth) from deleted_records r where r.org_id = org and r.story_id = former_parent) + 1,
      'children', jsonb_build_object('id', story)
    from deleted_stories d where d.org_id = org and d.id = former_parent;

  -- Drops references to members who left, agents that were retired and repositories that were unlinked in the meantime.
  delete from deleted_records d where d.org_id = org and d.story_id = story and (
    (d.kind = 'assignments' and (
      (d.record ->> 'member_id' is not null and not exists (select 1 from members m
        where m.org_id = org and m.id = (d.record ->> 'member_id')::uuid and m.status = 'active'))
      or (d.record ->> 'agent_id' is not null and not exists (select 1 from agents a
        join members m on m.org_id = org and m.id = a.member_id and m.status = 'active'
        where a.org_id = org and a.id = (d.record ->> 'agent_id')::uuid and a.retired_at is null))))
    or (d.kind = 'forge_pulls' and not exists (select 1 from forge_repositories r
      where r.org_id = org and r.id = (d.record ->> 'repository_id')::uuid))
    or (d.kind = 'contract_stories' and not exists (select 1 from contracts c
      where c.org_id = org and c.id = (d.record ->> 'contract_id')::uuid)));

  -- In the order of the references between these tables.
  foreach restored in array array['stories', 'story_specs', 'comments', 'comment_reactions', 'executions',
      'execution_events', 'execution_contributors', 'forge_observations', 'forge_pulls', 'attachments', 'code_changes',
      'code_change_files', 'assignments', 'story_reviewers', 'story_selections', 'story_subscriptions', 'budgets', 'contract_stories',
      'delivery_group_stories'] loop
    perform app.restore_records(story, restored);
  end loop;
  -- No lease is restored.
  update executions e set state = 'available', offer = null, waiting_for = null
    where e.org_id = org and e.target_type = 'story' and e.target_id = story and e.state in ('leased', 'waiting_input', 'offered');
  update agent_runs r set story_id = story,
      execution_id = coalesce(r.execution_id, (select e.id from executions e
        where e.org_id = org and e.id = (d.record ->> 'execution_id')::uuid))
    from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'agent_runs'
      and r.org_id = org and r.id = (d.record ->> 'id')::uuid and r.story_id is null;
  perform app.restore_contract_versions(story, (select coalesce(jsonb_agg(d.record), '[]') from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'contract_versions'));
  perform app.postpone_file_deletions(array(select (d.record ->> 'id')::uuid from deleted_records d
    where d.org_id = org and d.story_id = story and d.kind = 'attachments'), null);

  insert into story_blockers (org_id, project_id, story_id, blocker_id) select org, project, w.id, story from unnest(waiters) w (id);
  -- All stories that wait for the story, directly or through others. A parent waits for its children.
  with recursive found (id) as (
    select story
    union
    select n.id from found f cross join lateral (
      select b.story_id as id from story_blockers b where b.org_id = org and b.blocker_id = f.id
      union all
      select s.parent_id from stories s where s.org_id = org and s.id = f.id and s.parent_id is not null) n)
  select array_agg(f.id) into waiting from found f;
  insert into story_blockers (org_id, project_id, story_id, blocker_id)
    select org, project, story, b.id from unnest(blockers) b (id) where b.id <> all (waiting);
  children := array(select c.id from unnest(children) c (id) where c.id <> all (waiting));
  update stories s set parent_id = case when s.id = any (children) then story else s.parent_id end,
      version = s.version + 1, updated_at = now()
    where s.org_id = org and s.id = any (waiters || children);

  delete from deleted_stories d where d.org_id = org and d.id = story;
  return query select s.id, s.project_id, p.key, s.number, s.title, c.field
    from (select w.id, 'blockedBy' as field from unnest(waiters) w (id)
      union all select w.id, 'parentId' from unnest(children) w (id)) c
    join stories s on s.org_id = org and s.id = c.id join projects p on p.org_id = org and p.id = s.project_id
    order by s.number, c.field;
end $$;
