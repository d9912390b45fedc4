-- Who is asked to review a story, and the verdict: what was said, and of which spec and which code.
create table story_reviewers (
  org_id uuid not null,
  id uuid not null,
  story_id uuid not null,
  project_id uuid not null,
  -- The one who reviews: a member or an agent.
  member_id uuid,
  agent_id uuid,
  verdict text not null default 'pending'
    check (verdict in ('pending', 'approved', 'changes_requested', 'commented')),
  note text,
  -- What was reviewed, as far as it was known; the verdict is stale when the story has moved on from it.
  spec_version int,
  head_sha text,
  diff_hash text,
  decided_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  -- Is this member, or this agent, a reviewer of the story?
  unique nulls not distinct (org_id, story_id, member_id, agent_id),
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  check (num_nonnulls(member_id, agent_id) = 1),
  check ((decided_at is null) = (verdict = 'pending') and (spec_version is null) = (verdict = 'pending')),
  check (verdict <> 'changes_requested' or note is not null)
);
-- The reviewers of a story, in the order in which they were asked (UUIDv7 sorts by time).
create index story_reviewers_story on story_reviewers (org_id, story_id, id);
-- What is a member, or an agent, asked to review? The latest first.
create index story_reviewers_member on story_reviewers (org_id, member_id, id) where member_id is not null;
create index story_reviewers_agent on story_reviewers (org_id, agent_id, id) where agent_id is not null;
-- How many verdicts did a member give, since when?
create index story_reviewers_decided on story_reviewers (org_id, member_id, decided_at)
  where member_id is not null and decided_at is not null;
call app.guard_table('story_reviewers');

-- Who is assigned in a project, and in the whole organization by the primary key: stories, epics, groups.
create index assignments_project on assignments (org_id, project_id, target_type, target_id);
