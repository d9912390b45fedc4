-- What members are told, and how.

-- A message to many. It is never changed; past expires_at it is old, which is read and never written.
create table broadcasts (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  message text not null check (length(message) between 1 and 4000),
  level text not null check (level in ('info', 'warning', 'critical')),
  -- Whom it is for: who may see the project, who is in the team, who does both; everybody where neither is named.
  project_id uuid,
  team_id uuid,
  sender jsonb not null,
  sender_member_id uuid not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, team_id) references teams (org_id, id) on delete cascade,
  foreign key (org_id, sender_member_id) references members (org_id, id) on delete cascade
);
-- What was sent last? In a project? What goes with a team?
create index broadcasts_newest on broadcasts (org_id, created_at desc, id desc);
create index broadcasts_project on broadcasts (org_id, project_id, created_at desc, id desc) where project_id is not null;
create index broadcasts_team on broadcasts (org_id, team_id) where team_id is not null;
call app.guard_table('broadcasts');
call app.open_table('broadcasts', 'muster_worker', 'select (expires_at)');

-- What a member is told of, written by the operation that it follows from.
create table notifications (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  -- Who may no longer see this project sees no notification about it. Null: about no project.
  project_id uuid,
  kind text not null check (kind in ('mention', 'assigned', 'review_requested', 'review_verdict', 'comment_reply',
    'handoff', 'lease_expired', 'lock_taken_over', 'lease_taken_over', 'broadcast', 'invitation_accepted',
    'access_requested', 'access_resolved', 'seat_limit')),
  title text not null,
  body text not null default '',
  subject jsonb,
  actor jsonb not null,
  -- False where the member wants it by e-mail or push alone.
  in_inbox boolean not null default true,
  read_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The inbox, newest first; what is unread of it; one kind.
create index notifications_inbox on notifications (org_id, member_id, id desc) where in_inbox;
create index notifications_unread on notifications (org_id, member_id, id desc) where in_inbox and read_at is null;
create index notifications_kind on notifications (org_id, member_id, kind, id desc);
-- What goes with a project?
create index notifications_project on notifications (org_id, project_id) where project_id is not null;
-- Which notifications are past their day? One that never was for an inbox is read by nobody, and as old as it is.
create index notifications_over on notifications (coalesce(read_at, created_at)) where read_at is not null or not in_inbox;
-- Which are unread for so long that nobody will read them? They lie in the order in which they came.
create index notifications_ages on notifications using brin (created_at) with (pages_per_range = 32, autosummarize = on);
-- An unread one goes only with its member or its project, and so do the counts: else they would have to follow. The
-- worker removes the others, which count in none.
call app.guard_table('notifications', 'select, insert, update');
call app.open_table('notifications', 'muster_worker', 'select (org_id, id, in_inbox, read_at, created_at), delete');

-- How many of a member's notifications are unread, kept by triggers, so that nobody ever counts an inbox. By project,
-- since what the member may no longer see does not count.
create table notification_counts (
  org_id uuid not null,
  member_id uuid not null,
  kind text not null,
  project_id uuid,
  -- A key has no nulls.
  place_id uuid not null generated always as (coalesce(project_id, org_id)) stored,
  unread int not null,
  primary key (org_id, member_id, kind, place_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- What goes with a project?
create index notification_counts_project on notification_counts (org_id, project_id) where project_id is not null;
call app.guard_table('notification_counts');

-- What a member set otherwise than the default.
create table notification_preferences (
  org_id uuid not null,
  member_id uuid not null,
  kind text not null,
  channel text not null check (channel in ('inbox', 'email', 'push')),
  enabled boolean not null,
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, member_id, kind, channel),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
call app.guard_table('notification_preferences');
