create table projects (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  key text collate "C" not null check (key ~ '^[A-Z][A-Z0-9]{1,9}$'),
  name text not null,
  description text not null default '',
  visibility text not null check (visibility in ('org', 'private')),
  repository jsonb,
  origin text not null check (origin in ('hosted', 'converted')),
  -- The client's own id of the local board this was converted from, and the answer given then.
  local_project_id text,
  conversion jsonb,
  archived_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  -- Which project does a key mean? Also the order of lists.
  unique (org_id, key)
);
-- Was this local board converted before?
create unique index projects_local on projects (org_id, local_project_id) where local_project_id is not null;

-- What is counted per project, on a row of its own: it is locked until commit, and the project's row must not be.
create table project_counters (
  org_id uuid not null,
  project_id uuid not null,
  last_story_number int not null default 0,
  canceled_stories int not null default 0,
  primary key (org_id, project_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);

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

-- What the organization's role and the project's visibility give by themselves, as a rank.
create function app.given_rank(visibility text, member_role text) returns int
language sql immutable parallel safe
return case
  when member_role in ('owner', 'admin') then 3
  when visibility = 'org' then case member_role when 'member' then 2 when 'viewer' then 1 end
end;

-- What a role that was given in a project counts there, as a rank. Viewers of the organization hold no seat: whatever
-- they or their teams were given, and whatever they were before, they only ever read.
create function app.held_rank(project_role text, member_role text) returns int
language sql immutable parallel safe
return case when member_role = 'viewer' then 1
  else array_position(array['viewer', 'contributor', 'lead'], project_role) end;

-- The role that counts, as a rank: 3 lead, 2 contributor, 1 viewer, null none. The only statement of the rule:
-- the highest of direct membership, the teams on the project, lead for owners and admins, and what visibility gives.
create function app.project_rank(org uuid, project uuid, visibility text, member uuid, member_role text) returns int
language sql stable parallel safe
return greatest(
  app.given_rank(visibility, member_role),
  (select app.held_rank(pm.role, member_role) from public.project_members pm
    where pm.org_id = org and pm.project_id = project and pm.member_id = member),
  (select max(app.held_rank(pt.role, member_role)) from public.project_teams pt
    join public.team_members tm on tm.org_id = pt.org_id and tm.team_id = pt.team_id
    where pt.org_id = org and pt.project_id = project and tm.member_id = member));
