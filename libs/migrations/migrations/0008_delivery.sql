-- Delivery: who owns which work, under which lease. What is true of a lease stands here alone; Redis never decides.

-- One row per unit, made once and never deleted while its project stands, so that an epoch outlives release, completion
-- and restarts. A holder's check has no clock in it: state, epoch and token. Expiry makes a lease claimable; whoever
-- claims writes.
create table leases (
  org_id uuid not null,
  unit_type text not null check (unit_type in ('story', 'delivery_group', 'coordination')),
  -- The story, or the delivery group; it may be gone while its lease's row stays.
  unit_id uuid not null,
  project_id uuid not null,
  state text not null default 'free' check (state in ('free', 'held')),
  epoch int not null default 0,
  -- SHA-256 of the token of the newest grant; the token before a re-acquire is stale.
  token_hash bytea check (length(token_hash) = 32),
  holder jsonb,
  member_id uuid,
  agent_id uuid,
  run_id text,
  ttl_seconds int,
  granted_at timestamptz(3),
  expires_at timestamptz(3),
  -- The end of its time was noted, once, by the sweep.
  expiry_noted boolean not null default false,
  -- What ended the newest grant, so that the winner's retry hears the same: its token and the operation.
  ended_token_hash bytea,
  ended_by text,
  primary key (org_id, unit_type, unit_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  check ((state = 'held') = (token_hash is not null and holder is not null and expires_at is not null))
) with (autovacuum_vacuum_max_threshold = 50000);
-- Which leases are past their time, and nobody was told? When will the next one be? What was noted is not looked at
-- again. A renewal pays for each index that has the time in it: there is one.
create index leases_due on leases (expires_at) where state = 'held' and not expiry_noted;
-- What does a member hold? And what an agent?
create index leases_member on leases (org_id, member_id) where state = 'held';
create index leases_agent on leases (org_id, agent_id) where state = 'held' and agent_id is not null;
-- What is held in a project?
create index leases_project on leases (org_id, project_id, unit_type, unit_id) where state = 'held';
-- Who works under a lease now? Those past their time are noted, so few are looked at in vain; and no renewal pays for it.
create index leases_live on leases (org_id, project_id) where state = 'held' and not expiry_noted;
-- The worker finds what is due, and how much; who holds it is read inside the organization.
call app.guard_table('leases');
call app.open_table('leases', 'muster_door', 'select');
-- After a loss the epochs go on beyond those that were given out (functions/after-loss.sql); likewise below.
call app.open_table('leases', 'muster_operator', 'select, update (epoch)');
call app.open_table('leases', 'muster_worker', 'select (org_id, unit_type, unit_id, state, expires_at, expiry_noted)');

create table executions (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  target_type text not null check (target_type in ('story', 'delivery_group')),
  target_id uuid not null,
  -- stalled is read, never written: leased or waiting_input past the lease's time. Likewise an offer past its own.
  state text not null check (state in ('available', 'leased', 'waiting_input', 'offered', 'submitted', 'completed')),
  phase text check (phase in ('planning', 'implementing', 'testing', 'reviewing', 'merging')),
  progress int not null default 0 check (progress between 0 and 100),
  attempt int not null default 1,
  spec_version int,
  -- The epoch of its newest grant.
  epoch int not null,
  run_id text,
  device_id text,
  offer jsonb,
  waiting_for uuid,
  checkpoint jsonb,
  checkpoint_seq int not null default 0,
  git jsonb,
  pull_request jsonb,
  outcome text check (outcome in ('submitted', 'succeeded', 'failed', 'canceled')),
  failure text,
  summary text,
  needs_rework boolean not null default false,
  stop_requested jsonb,
  -- What the forge said, folded: per aspect the newest fact by its own time.
  forge jsonb not null default '{}',
  merged_at timestamptz(3),
  -- When the forge itself said that the work was merged; merged_at is by any word.
  merge_verified_at timestamptz(3),
  last_event_seq int not null default 0,
  -- Up to which event the holder has been told.
  told_seq int not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  version int not null default 1,
  -- By what people look for work. As columns, since a condition on a part of JSON is one that row security lets no index be
  -- asked about. A URL may be longer than an index takes, so its hash is looked for, and the URL itself compared.
  branch text generated always as (git ->> 'branch') stored,
  opened_number bigint generated always as ((git #>> '{pullRequest,number}')::bigint) stored,
  opened_url_hash text generated always as (md5(git #>> '{pullRequest,url}')) stored,
  submitted_number bigint generated always as ((pull_request ->> 'number')::bigint) stored,
  submitted_url_hash text generated always as (md5(pull_request ->> 'url')) stored,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  check ((state = 'completed') = (completed_at is not null))
) with (autovacuum_vacuum_max_threshold = 50000);
-- Who owns the work? At most one that is not completed.
create unique index executions_open on executions (org_id, target_type, target_id) where state <> 'completed';
-- What was the last one?
create index executions_target on executions (org_id, target_type, target_id, id desc);
-- What is open in a project?
create index executions_project on executions (org_id, project_id, id) where state <> 'completed';
-- Which are the newest of a project? Of each state, and of those that have to be taken up again?
create index executions_newest on executions (org_id, project_id, id);
create index executions_state on executions (org_id, project_id, state, needs_rework, id);
-- Which are about a branch, or a pull request: as the work on it or the forge said, or as it was handed in?
create index executions_branch on executions (org_id, project_id, branch, id) where branch is not null;
create index executions_opened_number on executions (org_id, project_id, opened_number, id) where opened_number is not null;
create index executions_opened_url on executions (org_id, project_id, opened_url_hash, id) where opened_url_hash is not null;
create index executions_submitted_number on executions (org_id, project_id, submitted_number, id)
  where submitted_number is not null;
create index executions_submitted_url on executions (org_id, project_id, submitted_url_hash, id)
  where submitted_url_hash is not null;
call app.guard_table('executions');
call app.open_table('executions', 'muster_door', 'select');
call app.open_table('executions', 'muster_platform', 'select (org_id)');
call app.open_table('executions', 'muster_operator', 'select, update (epoch, last_event_seq)');

-- Who worked on it, attempt by attempt: they are its authors.
create table execution_contributors (
  org_id uuid not null,
  execution_id uuid not null,
  member_id uuid not null,
  -- The null uuid where the member worked without an agent.
  agent_id uuid not null default '00000000-0000-0000-0000-000000000000',
  attempt int not null,
  primary key (org_id, execution_id, member_id, agent_id),
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade
);
call app.guard_table('execution_contributors');

-- Counted on the execution's own row, in the statement that has it locked: no gaps, in commit order.
create table execution_events (
  org_id uuid not null,
  execution_id uuid not null,
  seq int not null,
  kind text not null,
  actor jsonb not null,
  data jsonb not null default '{}',
  at timestamptz(3) not null default clock_timestamp(),
  primary key (org_id, execution_id, seq, at),
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade
) partition by range (at);
call app.keep_by_month('execution_events');
call app.guard_table('execution_events', 'select, insert');

create table delivery_groups (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  name text not null,
  state text not null default 'draft' check (state in ('draft', 'active', 'in_review', 'landed', 'abandoned')),
  merge_strategy text not null check (merge_strategy in ('per_story', 'integration_branch', 'stacked')),
  git jsonb,
  upstream jsonb,
  checkpoint jsonb,
  checkpoint_seq int not null default 0,
  -- Whoever coordinates the group is told what others did to it and its stories, from the organization's activity: its
  -- numbers have no gaps and follow the order of commits, so a place in it says exactly what was told.
  told_seq bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  unique (org_id, project_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The groups of a project, newest first; of one state.
create index delivery_groups_project on delivery_groups (org_id, project_id, id desc);
create index delivery_groups_state on delivery_groups (org_id, project_id, state, id desc);
-- Which group mirrors this record of another tracker?
create unique index delivery_groups_upstream on delivery_groups
  (org_id, project_id, (upstream ->> 'provider'), (upstream ->> 'externalId')) where upstream is not null;
call app.guard_table('delivery_groups');
call app.open_table('delivery_groups', 'muster_door', 'select');

create table delivery_group_stories (
  org_id uuid not null,
  project_id uuid not null,
  group_id uuid not null,
  story_id uuid not null,
  position int not null,
  -- Of a group that is neither landed nor abandoned.
  open boolean not null default true,
  primary key (org_id, group_id, story_id),
  foreign key (org_id, project_id, group_id) references delivery_groups (org_id, project_id, id) on delete cascade,
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id) on delete cascade
);
-- Which open group is a story in? One at most.
create unique index delivery_group_stories_open on delivery_group_stories (org_id, story_id) where open;
call app.guard_table('delivery_group_stories');

-- Locks of a project are granted one after the other: whoever grants holds this row.
create table lock_counters (
  org_id uuid not null,
  project_id uuid not null,
  fencing_token bigint not null default 0,
  primary key (org_id, project_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
call app.guard_table('lock_counters');
call app.open_table('lock_counters', 'muster_operator', 'select, update (fencing_token)');

create table locks (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  -- Globs over paths, or name:…
  resources text[] not null check (cardinality(resources) between 1 and 50),
  mode text not null check (mode in ('exclusive', 'shared')),
  holder jsonb not null,
  member_id uuid not null,
  agent_id uuid,
  run_id text,
  execution_id uuid,
  story_id uuid,
  reason text,
  fencing_token bigint not null,
  acquired_at timestamptz(3) not null default clock_timestamp(),
  -- Past it the lock is none; its row is swept, or taken out by the next grant.
  expires_at timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade,
  -- Of a story of its own project; the story may go before it.
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id)
);
-- What is locked in a project, oldest first?
create index locks_project on locks (org_id, project_id, id);
-- What does a member hold? What was taken for an execution?
create index locks_member on locks (org_id, member_id);
create index locks_execution on locks (org_id, execution_id) where execution_id is not null;
-- Which are past their time?
create index locks_expiry on locks (expires_at) where execution_id is null;
-- What is locked for a story? Asked by its context, and when the story is deleted.
create index locks_story on locks (org_id, project_id, story_id) where story_id is not null;
-- A lock past its time is none, so whoever's it was, the worker may remove it.
call app.guard_table('locks');
call app.open_table('locks', 'muster_door', 'select, update (story_id)');
call app.open_table('locks', 'muster_worker', 'select (org_id, id, execution_id, expires_at), delete');
