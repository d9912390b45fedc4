-- Where a member can be reached besides the inbox. It ends with the membership.
create table devices (
  org_id uuid not null,
  member_id uuid not null,
  -- The client's own name of it.
  device_id text not null check (length(device_id) between 1 and 128),
  id uuid not null,
  name text not null check (length(name) between 1 and 120),
  platform text not null check (platform in ('macos', 'windows', 'linux', 'ios', 'android', 'web')),
  -- A secret: whoever has it can send to the device.
  push_token text,
  app_version text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Also: which devices does a member have?
  primary key (org_id, member_id, device_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
-- Who has this push token? One device alone, or what is for one member shows on another's screen.
create unique index devices_push_token on devices (org_id, md5(push_token)) where push_token is not null;
call app.guard_table('devices');

-- The members by name, the active ones or those that were removed.
create index members_names on members (org_id, status, name, id);
-- A team in the order in which its members came.
create index team_members_added on team_members (org_id, team_id, created_at, member_id);
-- How many comments did a member write?
create index comments_author on comments (org_id, author_member_id)
  where body is not null and (author ->> 'agentId') is null;

-- Ends what a member, and the member's agents, hold: whoever removes a member does it in the same transaction, with
-- the member's row locked. What they did stays. The only statement of what goes; a migration that adds something to
-- hold (locks, leases) replaces the function by one that lets go of it as well. Names are looked up when it runs, so it
-- knows the tables of the migrations that follow.
create function app.release_member(org uuid, member uuid) returns void
language plpgsql set search_path = pg_catalog, public as $$
declare
  own_agents uuid[] := array(select g.id from agents g where g.org_id = org and g.member_id = member);
begin
  -- A token of an agent is a token of its member.
  update tokens set revoked_at = now() where org_id = org and member_id = member and revoked_at is null;
  -- Locked in one order, for two removals that meet: a member and an agent stand side by side, and the other one stays.
  perform from assignments a
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents))
    order by a.target_type, a.target_id for update;
  delete from assignments a
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents))
      and coalesce(a.member_id = member, true) and coalesce(a.agent_id = any (own_agents), true);
  update assignments a
    set member_id = nullif(a.member_id, member),
      agent_id = case when a.agent_id = any (own_agents) then null else a.agent_id end,
      updated_at = now()
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents));
  delete from team_members where org_id = org and member_id = member;
  delete from project_members where org_id = org and member_id = member;
  -- A request or a review that nobody waits for any more; what was decided stays.
  delete from access_requests where org_id = org and member_id = member and state = 'pending';
  delete from story_reviewers r
    where r.org_id = org and (r.member_id = member or r.agent_id = any (own_agents)) and r.verdict = 'pending';
  delete from story_selections where org_id = org and member_id = member;
  delete from devices where org_id = org and member_id = member;
end $$;
