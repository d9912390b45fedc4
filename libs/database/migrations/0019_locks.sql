-- Locks get their door: a lock is found by its id, and its project decides who may free it.
grant select on locks to muster_door;
create policy the_door on locks to muster_door using (true);

-- A lock is of a story of its own project; the story may go before it.
alter table locks add foreign key (org_id, project_id, story_id)
  references stories (org_id, project_id, id) on delete set null (story_id);
-- What is locked for a story? Asked by its context, and when the story is deleted.
create index locks_story on locks (org_id, project_id, story_id) where story_id is not null;

-- As in 0006, with the lock as one more kind of target.
create or replace function app.enter(
  token_hash bytea, target_kind text, target_ref text, needs_org int, needs_project int,
  out at timestamptz, out org_role text, out project_id uuid, out archived boolean)
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
declare
  org uuid;
  member uuid;
  bound uuid[];
  sees text;
  project_rank int;
begin
  select t.org_id, t.member_id, t.project_ids, m.role, now()
    into org, member, bound, org_role, at
    from tokens t
    join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
    where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now());
  if not found then
    raise exception 'no such token' using errcode = 'MU401';
  end if;
  perform set_config('muster.org_id', org::text, true);
  if array_position(array['viewer', 'member', 'admin', 'owner'], org_role) < needs_org then
    raise exception 'role in the organization is too low' using errcode = 'MU403';
  end if;
  if target_kind is null then return; end if;

  -- Operators of the installation: not a record but a pass, which app.require_platform asks for.
  if target_kind = 'platform' then
    if not exists (select from tokens t where t.hash = token_hash and 'platform' = any (t.scopes)) then
      raise exception 'not for this token' using errcode = 'MU403';
    end if;
    perform set_config('muster.platform_pass', encode(token_hash, 'hex'), true);
    return;
  end if;
  case target_kind
    when 'project' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from projects p where p.org_id = org and p.id = target_ref::uuid;
    when 'projectKey' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from projects p where p.org_id = org and p.key = upper(target_ref);
    when 'story' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
        where s.org_id = org and s.id = target_ref::uuid;
    when 'storyKey' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from projects p join stories s on s.org_id = p.org_id and s.project_id = p.id
        where p.org_id = org and p.key = upper(split_part(target_ref, '-', 1))
          and s.number = split_part(target_ref, '-', 2)::int;
    when 'column' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from board_columns c join projects p on p.org_id = c.org_id and p.id = c.project_id
        where c.org_id = org and c.id = target_ref::uuid;
    when 'epic' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from epics e join projects p on p.org_id = e.org_id and p.id = e.project_id
        where e.org_id = org and e.id = target_ref::uuid;
    when 'comment' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from comments c join stories s on s.org_id = c.org_id and s.id = c.story_id
        join projects p on p.org_id = s.org_id and p.id = s.project_id
        where c.org_id = org and c.id = target_ref::uuid;
    when 'accessRequest' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from access_requests r join projects p on p.org_id = r.org_id and p.id = r.project_id
        where r.org_id = org and r.id = target_ref::uuid;
    when 'deliveryGroup' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from delivery_groups g join projects p on p.org_id = g.org_id and p.id = g.project_id
        where g.org_id = org and g.id = target_ref::uuid;
    when 'execution' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from executions e join projects p on p.org_id = e.org_id and p.id = e.project_id
        where e.org_id = org and e.id = target_ref::uuid;
    when 'lock' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from locks l join projects p on p.org_id = l.org_id and p.id = l.project_id
        where l.org_id = org and l.id = target_ref::uuid;
  end case;
  if project_id is not null and (bound is null or project_id = any (bound)) then
    project_rank := app.given_rank(sees, org_role);
    -- Teams and direct membership are looked up only where they can make a difference.
    if project_rank is null or project_rank < needs_project then
      project_rank := app.project_rank(org, project_id, sees, member, org_role);
    end if;
  end if;
  if project_rank is null then
    raise exception 'nothing there to be seen' using errcode = 'MU404';
  end if;
  if project_rank < needs_project then
    raise exception 'role in the project is too low' using errcode = 'MU403';
  end if;
  perform set_config('muster.project_id', project_id::text, true);
end $$;
