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
  foreign key (org_id, project_id, epic_id) references epics (org_id, project_id, id) on delete set null (epic_id),
  check ((column_id is null) = (status = 'canceled'))
);
-- A column from top to bottom, or the canceled stories; and two stories never have one place.
create unique index stories_board on stories (org_id, project_id, column_id, rank) nulls not distinct;
-- What changed last in a project?
create index stories_updated on stories (org_id, project_id, updated_at desc, id desc);
-- The stories of an epic.
create index stories_epic on stories (org_id, epic_id) where epic_id is not null;
-- Which story mirrors this record of another tracker?
create unique index stories_upstream on stories
  (org_id, project_id, (upstream ->> 'provider'), (upstream ->> 'externalId')) where upstream is not null;

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

-- Keeps stories.blocked_by, oldest first. Also when a blocker is deleted and its rows go with it: that is the owner's
-- doing, to whom forced row security shows nothing, so the door does this (0006).
create function app.keep_blocked_by() returns trigger
language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  update stories s
    set blocked_by = array(
      select b.blocker_id from story_blockers b where b.org_id = s.org_id and b.story_id = s.id order by b.blocker_id)
    where s.org_id = coalesce(new.org_id, old.org_id) and s.id = coalesce(new.story_id, old.story_id);
  return null;
end $$;
create trigger story_blockers_kept after insert or delete on story_blockers
  for each row execute function app.keep_blocked_by();

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

-- Keeps the counts of columns, epics and canceled stories, so that no reader ever counts a board.
create function app.count_stories() returns trigger
language plpgsql set search_path = pg_catalog, public as $$
declare
  was stories;
  is_now stories;
begin
  if tg_op <> 'INSERT' then was := old; end if;
  if tg_op <> 'DELETE' then is_now := new; end if;
  if was.column_id is distinct from is_now.column_id then
    update board_columns set story_count = story_count - 1 where org_id = was.org_id and id = was.column_id;
    update board_columns set story_count = story_count + 1 where org_id = is_now.org_id and id = is_now.column_id;
  end if;
  if (was.status = 'canceled') is distinct from (is_now.status = 'canceled') and
     (was.status = 'canceled' or is_now.status = 'canceled') then
    update project_counters
      set canceled_stories = canceled_stories + case when is_now.status = 'canceled' then 1 else -1 end
      where org_id = coalesce(is_now.org_id, was.org_id) and project_id = coalesce(is_now.project_id, was.project_id);
  end if;
  if was.epic_id is distinct from is_now.epic_id or was.status is distinct from is_now.status then
    if was.epic_id is not null and was.status <> 'canceled' then
      update epics set story_count = story_count - 1, done_count = done_count - (was.status = 'done')::int
        where org_id = was.org_id and id = was.epic_id;
    end if;
    if is_now.epic_id is not null and is_now.status <> 'canceled' then
      update epics set story_count = story_count + 1, done_count = done_count + (is_now.status = 'done')::int
        where org_id = is_now.org_id and id = is_now.epic_id;
    end if;
  end if;
  return null;
end $$;

-- Row by row is cheapest for the single stories that most writes are about, but the same counter changed n times in
-- one transaction costs n² (10,000 stories: 7 s). So whoever writes many at once says that it counts them itself, for
-- the rest of its transaction.
create function app.counts_by_hand() returns boolean
language sql stable parallel safe
return coalesce(current_setting('muster.counts', true), '') = 'by hand';

create trigger stories_counted_in after insert on stories for each row
  when (not app.counts_by_hand())
  execute function app.count_stories();
create trigger stories_counted_out after delete on stories for each row
  when (not app.counts_by_hand())
  execute function app.count_stories();
create trigger stories_recounted after update on stories for each row
  when ((old.column_id is distinct from new.column_id
      or old.status is distinct from new.status
      or old.epic_id is distinct from new.epic_id) and not app.counts_by_hand())
  execute function app.count_stories();
