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
);
-- Which leases are past their time?
create index leases_expiry on leases (expires_at) where state = 'held';
-- What does a member hold?
create index leases_member on leases (org_id, member_id) where state = 'held';
-- What is held in a project?
create index leases_project on leases (org_id, project_id, unit_type, unit_id) where state = 'held';

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
  last_event_seq int not null default 0,
  -- Up to which event the holder has been told.
  told_seq int not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  check ((state = 'completed') = (completed_at is not null))
);
-- Who owns the work? At most one that is not completed.
create unique index executions_open on executions (org_id, target_type, target_id) where state <> 'completed';
-- What was the last one?
create index executions_target on executions (org_id, target_type, target_id, id desc);
-- What is open in a project?
create index executions_project on executions (org_id, project_id, id) where state <> 'completed';

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

-- Counted on the execution's own row, in the statement that has it locked: no gaps, in commit order.
create table execution_events (
  org_id uuid not null,
  execution_id uuid not null,
  seq int not null,
  kind text not null,
  actor jsonb not null,
  data jsonb not null default '{}',
  at timestamptz(3) not null default clock_timestamp(),
  primary key (org_id, execution_id, seq),
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade
);

create table forge_observations (
  org_id uuid not null,
  execution_id uuid not null,
  dedupe_key text not null,
  kind text not null,
  ref text,
  sha text,
  number int,
  url text,
  data jsonb,
  observed_at timestamptz(3) not null,
  recorded_by jsonb not null,
  recorded_at timestamptz(3) not null default now(),
  -- Was this fact recorded before?
  primary key (org_id, execution_id, dedupe_key),
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade
);

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

-- Locks of a project are granted one after the other: whoever grants holds this row.
create table lock_counters (
  org_id uuid not null,
  project_id uuid not null,
  fencing_token bigint not null default 0,
  primary key (org_id, project_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);

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
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade
);
-- What is locked in a project, oldest first?
create index locks_project on locks (org_id, project_id, id);
-- What does a member hold? What was taken for an execution?
create index locks_member on locks (org_id, member_id);
create index locks_execution on locks (org_id, execution_id) where execution_id is not null;
-- Which are past their time?
create index locks_expiry on locks (expires_at);

call app.guard_table('leases');
call app.guard_table('executions');
call app.guard_table('execution_contributors');
call app.guard_table('execution_events', 'select, insert');
call app.guard_table('forge_observations', 'select, insert');
call app.guard_table('delivery_groups');
call app.guard_table('delivery_group_stories');
call app.guard_table('lock_counters');
call app.guard_table('locks');

-- The door finds the project of these, too; the functions that do are in 0006.
grant select on executions, delivery_groups to muster_door;
create policy the_door on executions to muster_door using (true);
create policy the_door on delivery_groups to muster_door using (true);

-- Where the streams of executions stand, for those who wait for them: numbers alone, so any process may ask.
grant create on schema app to muster_door;
create function app.stream_positions(orgs uuid[], wanted uuid[])
returns table (execution_id uuid, last_seq int)
language sql stable security definer set search_path = pg_catalog, public
begin atomic
  select e.id, e.last_event_seq
  from unnest(orgs, wanted) as w (org_id, id)
  join public.executions e on e.org_id = w.org_id and e.id = w.id;
end;
alter function app.stream_positions(uuid[], uuid[]) owner to muster_door;
revoke all on function app.stream_positions(uuid[], uuid[]) from public;
grant execute on function app.stream_positions(uuid[], uuid[]) to muster_app;
revoke create on schema app from muster_door;

-- Whoever is a member no more holds nothing: leases and locks are freed in the transaction that removes them, and the
-- work is there for others.
create function app.release_work() returns trigger
language plpgsql set search_path = pg_catalog, public as $$
begin
  with freed as (
    update leases l set state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null,
      run_id = null, expires_at = null
    where l.org_id = new.org_id and l.member_id = new.id and l.state = 'held'
    returning l.unit_type, l.unit_id),
  left_alone as (
    update executions e set state = 'available', waiting_for = null, updated_at = now(), version = e.version + 1,
      last_event_seq = e.last_event_seq + 1
    from freed f
    where e.org_id = new.org_id and e.target_type = f.unit_type and e.target_id = f.unit_id
      and e.state in ('leased', 'waiting_input')
    returning e.id, e.last_event_seq)
  insert into execution_events (org_id, execution_id, seq, kind, actor, data)
    select new.org_id, a.id, a.last_event_seq, 'released',
      '{"kind": "system", "memberId": null, "agentId": null, "name": "system"}', '{"reason": "member removed"}'
    from left_alone a;
  delete from locks where org_id = new.org_id and member_id = new.id;
  return null;
end $$;
create trigger members_release_work after update of status on members for each row
  when (new.status = 'removed') execute function app.release_work();
