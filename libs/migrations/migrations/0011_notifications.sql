-- What members are told, and how; and other systems, by webhooks.

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
    'access_requested', 'access_resolved', 'seat_limit', 'webhook_paused')),
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
  -- How often it went up or down, so that a stream sees that an inbox changed also where as many were read as came.
  changes bigint not null default 0,
  primary key (org_id, member_id, kind, place_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
) with (autovacuum_vacuum_max_threshold = 50000);
-- What goes with a project?
create index notification_counts_project on notification_counts (org_id, project_id) where project_id is not null;
call app.guard_table('notification_counts');
-- Those who wait are told when to look, and of nothing else.
call app.open_table('notification_counts', 'muster_door', 'select (org_id, member_id, changes)');

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

-- An endpoint is a place in the activity of its organization, and a worker sends on from there.
create table webhooks (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  -- Null: it hears of the whole organization, as far as its maker sees it.
  project_id uuid,
  url text not null check (length(url) between 1 and 2048),
  kinds text[] not null check (cardinality(kinds) > 0),
  send_order text not null check (send_order in ('parallel', 'strict')),
  description text not null default '',
  -- What signs, sealed. The one before signs as well until its time.
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz(3),
  -- Whose rights say what is sent, at the time of sending.
  maker_id uuid not null,
  made_by jsonb not null,
  paused_at timestamptz(3),
  paused_reason text check (paused_reason in ('asked', 'failing', 'gone', 'maker_left', 'secret_unreadable')),
  -- Up to where the activity was looked through, and the last number that the endpoint's own messages have.
  cursor_seq bigint not null,
  sent_seq bigint not null default 0,
  -- So many deliveries wait that no more are taken up from the activity.
  is_full boolean not null default false,
  -- When the next delivery is to be tried; null where none waits for its time.
  next_at timestamptz(3),
  -- The worker that has it until then: what a worker of an earlier epoch says counts no more.
  worker_epoch bigint not null default 0,
  worker_until timestamptz(3),
  -- Tries that failed since the last that did not.
  failing int not null default 0,
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  -- From here on it is none; the worker removes what is left of it, which may be much, in portions.
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, maker_id) references members (org_id, id) on delete cascade,
  check ((paused_at is null) = (paused_reason is null))
);
-- Which does a project have, and what goes with it?
create index webhooks_project on webhooks (org_id, project_id, id) where project_id is not null;
create index webhooks_maker on webhooks (org_id, maker_id);
-- Which has a delivery that is due? Which follow the activity?
create index webhooks_due on webhooks (next_at) where next_at is not null;
create index webhooks_following on webhooks (org_id, cursor_seq) include (worker_until, id) where paused_at is null and not is_full and deleted_at is null;
-- Which are to be removed?
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;
call app.guard_table('webhooks', 'select, insert, update');
call app.open_table('webhooks', 'muster_worker', 'select (org_id, id, paused_at, cursor_seq, is_full, next_at, worker_until,
  failing, deleted_at)');

create table webhook_deliveries (
  org_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  -- The endpoint's own count, without gaps. Null: a test, which is none of the activity's.
  seq bigint,
  -- The event: its place in the activity, its time, and its id, which is the webhook-id of all tries.
  activity_seq bigint,
  event_at timestamptz(3) not null,
  event_id uuid not null,
  kind text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- Tries of this round: a replay begins another.
  attempts int not null default 0,
  -- The last of all: {at, status, ms, error}.
  tries jsonb not null default '[]',
  -- What the receiver answered last, the first 2 KiB.
  answer text,
  -- When it is to be tried; null where it is over, or waits until its endpoint is resumed.
  next_at timestamptz(3),
  done_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade,
  check ((seq is null) = (activity_seq is null))
);
-- Each number once; what is replayed of them; the newest.
create unique index webhook_deliveries_seq on webhook_deliveries (org_id, webhook_id, seq) where seq is not null;
create index webhook_deliveries_newest on webhook_deliveries (org_id, webhook_id, id desc);
create index webhook_deliveries_state on webhook_deliveries (org_id, webhook_id, state, id desc);
create index webhook_deliveries_time on webhook_deliveries (org_id, webhook_id, event_at) where seq is not null;
-- What waits, in order; what is due.
create index webhook_deliveries_pending on webhook_deliveries (org_id, webhook_id, seq) where state = 'pending';
create index webhook_deliveries_due on webhook_deliveries (org_id, webhook_id, next_at) where state = 'pending' and next_at is not null;
-- Which are past their day?
create index webhook_deliveries_done on webhook_deliveries (done_at) where done_at is not null;
call app.guard_table('webhook_deliveries', 'select, insert, update');
call app.open_table('webhook_deliveries', 'muster_worker', 'select (org_id, id, done_at), delete');
