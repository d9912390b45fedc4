-- The board of a project: columns, epics, stories, and what people say about them.

create table board_columns (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  name text not null,
  status text not null check (status in ('backlog', 'ready', 'in_progress', 'in_review', 'done')),
  position int not null,
  wip_limit int check (wip_limit >= 1),
  -- Kept by the trigger on stories.
  story_count int not null default 0,
  archived_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  unique (org_id, project_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The board from left to right.
create index board_columns_order on board_columns (org_id, project_id, position);
call app.guard_table('board_columns');
call app.open_table('board_columns', 'muster_door', 'select');

create table epics (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  title text not null,
  description text not null default '',
  color text,
  target_date date,
  status text not null default 'open' check (status in ('open', 'done', 'canceled')),
  -- Kept by the trigger on stories; canceled stories count in neither.
  story_count int not null default 0,
  done_count int not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  unique (org_id, project_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The epics of a project, oldest first (UUIDv7 sorts by time).
create index epics_project on epics (org_id, project_id, id);
-- Those of one status.
create index epics_status on epics (org_id, project_id, status, id);
call app.guard_table('epics');
call app.open_table('epics', 'muster_door', 'select');

create table stories (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  number int not null,
  title text not null check (length(title) between 1 and 300),
  description text not null default '',
  status text not null check (status in ('backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled')),
  column_id uuid,
  rank text collate "C" not null,
  epic_id uuid,
  priority text not null default 'none' check (priority in ('none', 'low', 'medium', 'high', 'urgent')),
  labels text[] not null default '{}',
  estimate double precision,
  blocked jsonb,
  -- Kept by the trigger on story_blockers, for readers; what is true stands there.
  blocked_by uuid[] not null default '{}',
  spec_version int not null default 0,
  git jsonb,
  -- The code under review, from whomever it is known; null while nobody told of any.
  code jsonb,
  upstream jsonb,
  created_by jsonb not null,
  completed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  -- Which story does WEB-42 mean?
  unique (org_id, project_id, number),
  -- For foreign keys; read backwards: what came last to a project?
  unique (org_id, project_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, project_id, column_id) references board_columns (org_id, project_id, id),
  foreign key (org_id, project_id, epic_id) references epics (org_id, project_id, id), -- let go of first, see functions/let-go.sql; likewise below
  check ((column_id is null) = (status = 'canceled'))
);
-- A column from top to bottom, or the canceled stories; and two stories never have one place.
create unique index stories_board on stories (org_id, project_id, column_id, rank) nulls not distinct;
-- What changed last in a project?
create index stories_updated on stories (org_id, project_id, updated_at desc, id desc);
-- The stories of an epic.
create index stories_epic on stories (org_id, epic_id) where epic_id is not null;
-- Which stories of a column come next, the most urgent first? What is finished is in no column that is asked for.
create index stories_next on stories (org_id, project_id, column_id, priority, rank) where completed_at is null;
-- Which story mirrors this record of another tracker?
create unique index stories_upstream on stories
  (org_id, project_id, (upstream ->> 'provider'), (upstream ->> 'externalId')) where upstream is not null;
call app.guard_table('stories');
call app.open_table('stories', 'muster_door', 'select, update (blocked_by, epic_id)');
call app.open_table('stories', 'muster_platform', 'select (org_id, project_id)');

create table story_blockers (
  org_id uuid not null,
  project_id uuid not null,
  story_id uuid not null,
  blocker_id uuid not null,
  primary key (org_id, story_id, blocker_id),
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id) on delete cascade,
  foreign key (org_id, project_id, blocker_id) references stories (org_id, project_id, id) on delete cascade,
  check (story_id <> blocker_id)
);
-- What waits for this story?
create index story_blockers_blocker on story_blockers (org_id, blocker_id);
call app.guard_table('story_blockers');
call app.open_table('story_blockers', 'muster_door', 'select');

create table story_specs (
  org_id uuid not null,
  story_id uuid not null,
  version int not null check (version >= 1),
  content text not null,
  content_hash text not null,
  lines_added int not null,
  lines_removed int not null,
  author jsonb not null,
  note text,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, story_id, version),
  foreign key (org_id, story_id) references stories (org_id, id) on delete cascade
);
call app.guard_table('story_specs', 'select, insert, delete');
call app.open_table('story_specs', 'muster_door', 'select (org_id, story_id, version, content)');

create table story_selections (
  org_id uuid not null,
  member_id uuid not null,
  -- '' where the client named no device.
  device_id text not null default '',
  story_id uuid not null,
  since timestamptz(3) not null default now(),
  primary key (org_id, member_id, device_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, story_id) references stories (org_id, id) on delete cascade
);
-- Who looks at this story?
create index story_selections_story on story_selections (org_id, story_id, since);
call app.guard_table('story_selections');

-- Who works on what: a person and an agent side by side.
create table assignments (
  org_id uuid not null,
  target_type text not null check (target_type in ('story', 'epic', 'delivery_group')),
  target_id uuid not null,
  project_id uuid not null,
  member_id uuid,
  agent_id uuid,
  -- The actor; the system where no operation did it.
  assigned_by jsonb not null default '{"kind": "system", "memberId": null, "agentId": null, "name": "Muster"}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, target_type, target_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  check (member_id is not null or agent_id is not null)
);
-- What is a member, or an agent, assigned to?
create index assignments_member on assignments (org_id, member_id, target_type, target_id);
create index assignments_agent on assignments (org_id, agent_id, target_type, target_id);
-- Who is assigned in a project, and in the whole organization by the primary key: stories, epics, groups.
create index assignments_project on assignments (org_id, project_id, target_type, target_id);
call app.guard_table('assignments');

create table comments (
  org_id uuid not null,
  id uuid not null,
  story_id uuid not null,
  parent_id uuid,
  kind text not null check (kind in ('comment', 'question', 'decision')),
  -- Null: deleted, kept as a tombstone for its replies.
  body text,
  author jsonb not null,
  author_member_id uuid not null,
  directed_to uuid,
  mentions uuid[] not null default '{}',
  -- Whoever was ever told of a mention in it, so that an edit tells each of them once.
  told uuid[] not null default '{}',
  anchor jsonb,
  resolved_at timestamptz(3),
  resolved_by jsonb,
  edited_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  unique (org_id, story_id, id),
  foreign key (org_id, story_id) references stories (org_id, id) on delete cascade,
  foreign key (org_id, story_id, parent_id) references comments (org_id, story_id, id) on delete cascade,
  foreign key (org_id, directed_to) references members (org_id, id),
  check ((body is null) = (deleted_at is not null))
);
-- The threads of a story, oldest first.
create index comments_roots on comments (org_id, story_id, id) where parent_id is null;
-- The replies of a thread.
create index comments_replies on comments (org_id, parent_id, id) where parent_id is not null;
-- The open threads of a story, newest first, however many were resolved.
create index comments_open on comments (org_id, story_id, id) where parent_id is null and resolved_at is null;
-- How many comments did a member write?
create index comments_author on comments (org_id, author_member_id)
  where body is not null and (author ->> 'agentId') is null;
call app.guard_table('comments');
call app.open_table('comments', 'muster_door', 'select');

create table comment_reactions (
  org_id uuid not null,
  comment_id uuid not null,
  member_id uuid not null,
  emoji text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, comment_id, emoji, member_id),
  foreign key (org_id, comment_id) references comments (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
call app.guard_table('comment_reactions');

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
  -- What was reviewed, as far as it was known; the verdict is stale when the story has moved on from it. The number of
  -- the code under review; null where it was about other code than that.
  spec_version int,
  code_seq int,
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
