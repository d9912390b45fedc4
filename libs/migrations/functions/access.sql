-- Returns the rank that the organization's role and the project's visibility give by themselves.
create or replace function app.given_rank(visibility text, member_role text) returns int
language sql immutable parallel safe as $$
  select case
    when member_role in ('owner', 'admin') then 3
    when visibility = 'org' then case member_role when 'member' then 2 when 'viewer' then 1 end
  end
$$;

-- Returns the rank of a role that was given in a project. Viewers of the organization hold no seat. They can
-- only ever read, whatever role they or their teams were given, and whatever role they had before.
create or replace function app.held_rank(project_role text, member_role text) returns int
language sql immutable parallel safe as $$
  select case when member_role = 'viewer' then 1
    else array_position(array['viewer', 'contributor', 'lead'], project_role) end
$$;

-- Returns the effective role as a rank: 3 lead, 2 contributor, 1 viewer, null none. This is the only
-- implementation of the rule. The highest of these counts: direct membership, the teams on the project, lead
-- for owners and admins, and the role by visibility.
create or replace function app.project_rank(org uuid, project uuid, visibility text, member uuid, member_role text) returns int
language sql stable parallel safe as $$
  select greatest(
    app.given_rank(visibility, member_role),
    (select app.held_rank(pm.role, member_role) from public.project_members pm
      where pm.org_id = org and pm.project_id = project and pm.member_id = member),
    (select max(app.held_rank(pt.role, member_role)) from public.project_teams pt
      join public.team_members tm on tm.org_id = pt.org_id and tm.team_id = pt.team_id
      where pt.org_id = org and pt.project_id = project and tm.member_id = member))
$$;

-- Returns the projects that a member may see, with the rank of the role there. A token may be bound to some
-- of them. All names include their schema and the function has no settings, so that Postgres inlines it: a
-- query for one project then reads only one.
create or replace function app.visible_projects(org uuid, member uuid, token uuid)
returns table (project_id uuid, project_rank int)
language sql stable as $$
  select p.id, r.rank
  from public.members m
  join public.tokens t on t.org_id = m.org_id and t.id = token
  join public.projects p on p.org_id = m.org_id
  cross join lateral (select app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) as rank) r
  where m.org_id = org and m.id = member and r.rank is not null
    and (t.project_ids is null or p.id = any (t.project_ids))
$$;
