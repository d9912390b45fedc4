-- The door. SQLSTATEs of class MU: MU401 not let in, MU403 let in but may not, MU404 nothing there to be seen.
grant create on schema app to muster_door;

-- Who a token is, for the process that holds it; null columns where there is none. Identity may be remembered
-- for a while, since app.enter checks again inside each transaction.
create function app.identify(token_hash bytea)
returns table (token_id uuid, org_id uuid, member_id uuid, agent_id uuid, scopes text[], member_name text, agent_name text)
language sql stable security definer set search_path = pg_catalog, public
begin atomic
  select t.id, t.org_id, t.member_id, t.agent_id, t.scopes, m.name, a.name
  from public.tokens t
  join public.members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
  join public.orgs o on o.id = t.org_id and o.deleted_at is null
  left join public.agents a on a.org_id = t.org_id and a.id = t.agent_id
  where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now());
end;

-- Lets a token into its organization for this transaction, or raises. With a target (a record named by kind and
-- id, or by key) also finds its project and whether the caller's role there is enough. `needs_org` and `needs_project`
-- are ranks. It runs on every call, so it reads no table that it can do without: each costs as much as the next.
create function app.enter(
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
    -- There are none yet that anybody could see.
    when 'deliveryGroup' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from delivery_groups g join projects p on p.org_id = g.org_id and p.id = g.project_id
        where g.org_id = org and g.id = target_ref::uuid;
    when 'execution' then
      select p.id, p.visibility, p.archived_at is not null into project_id, sees, archived
        from executions e join projects p on p.org_id = e.org_id and p.id = e.project_id
        where e.org_id = org and e.id = target_ref::uuid;
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

-- The project of this transaction's target, and the caller's exact rank there.
create function app.project_id() returns uuid
language sql stable parallel safe
return nullif(current_setting('muster.project_id', true), '')::uuid;

-- Whoever deletes an organization stops its tokens in the same breath, so that the door need not look at it.
create function app.revoke_tokens() returns trigger
language plpgsql set search_path = pg_catalog, public as $$
begin
  update tokens set revoked_at = now() where org_id = new.id and revoked_at is null;
  return null;
end $$;
create trigger orgs_deleted after update of deleted_at on orgs for each row
  when (new.deleted_at is not null) execute function app.revoke_tokens();

-- The projects a member may see, with the rank of the role there; a token may be bound to some of them. Its names
-- are bound already, and without a setting Postgres folds it into the query: asked for one project it looks at one.
create function app.visible_projects(org uuid, member uuid, token uuid)
returns table (project_id uuid, project_rank int)
language sql stable
begin atomic
  select p.id, r.rank
  from public.members m
  join public.tokens t on t.org_id = m.org_id and t.id = token
  join public.projects p on p.org_id = m.org_id
  cross join lateral (select app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank) r
  where m.org_id = org and m.id = member and r.rank is not null
    and (t.project_ids is null or p.id = any (t.project_ids));
end;

-- Notes when tokens were last used. Called in batches, at most once a minute per token.
create function app.touch_tokens(hashes bytea[]) returns void
language sql volatile security definer set search_path = pg_catalog, public
begin atomic
  update public.tokens set last_used_at = now()
  where hash = any (hashes) and (last_used_at is null or last_used_at < now() - interval '1 minute');
end;

alter function app.identify(bytea) owner to muster_door;
alter function app.enter(bytea, text, text, int, int) owner to muster_door;
alter function app.touch_tokens(bytea[]) owner to muster_door;
alter function app.keep_blocked_by() owner to muster_door;
revoke create on schema app from muster_door;
revoke all on function app.identify(bytea) from public;
revoke all on function app.enter(bytea, text, text, int, int) from public;
revoke all on function app.touch_tokens(bytea[]) from public;
revoke all on function app.keep_blocked_by() from public;
grant execute on function app.identify(bytea), app.enter(bytea, text, text, int, int), app.touch_tokens(bytea[]) to muster_app;

-- What the door reads, and nothing more.
grant select on orgs, members, agents, tokens, team_members, projects, project_members, project_teams,
  stories, board_columns, epics, comments to muster_door;
grant update (last_used_at) on tokens to muster_door;
grant select on story_blockers to muster_door;
grant update (blocked_by) on stories to muster_door;
