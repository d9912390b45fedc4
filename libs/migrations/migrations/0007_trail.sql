-- What is left behind by each write: who did what, what happened, and what follows from it.

-- Where each organization's streams stand. One row, locked by the last statement of a transaction until its
-- commit: so numbers have no gaps and follow the order of commits, which a sequence cannot do.
create table streams (
  org_id uuid primary key references orgs (id) on delete cascade,
  activity bigint not null default 0,
  audit bigint not null default 0,
  -- Seals the cursors of the event stream, so that no caller reads a number of the stream off one.
  cursor_key bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  -- A standby that took over may not have heard of the last seconds. What was numbered in them is not numbered again: the
  -- streams go on beyond (functions/after-loss.sql). Whoever stands in between has seen what is not there any more.
  lost_after bigint,
  lost_until bigint,
  -- The audit went on beyond as many numbers, after this one.
  audit_lost_after bigint,
  constraint streams_lost_check check (lost_after < lost_until)
  -- Every write of an organization is one to its row: half of each page is left free, so that its new version lies beside it.
) with (fillfactor = 50, autovacuum_vacuum_max_threshold = 5000);
call app.guard_table('streams');
call app.open_table('streams', 'muster_operator', 'select, insert, update');
-- An organization begins with an entry of who began it; what a person lets in stands in its audit as well.
call app.open_table('streams', 'muster_door', 'select (org_id, activity, audit, cursor_key), insert (org_id, audit), update (audit)');
call app.open_table('streams', 'muster_worker', 'select (org_id, activity)');
-- How many entries an organization has since some time, its numbers say: none of them is counted.
call app.open_table('streams', 'muster_platform', 'select (org_id, audit, lost_after, lost_until, audit_lost_after)');

create table activity (
  org_id uuid not null references orgs (id) on delete cascade,
  seq bigint not null,
  id uuid not null,
  kind text not null,
  actor jsonb not null,
  member_id uuid,
  agent_id uuid,
  project_id uuid,
  story_id uuid,
  subject jsonb not null,
  data jsonb not null,
  at timestamptz(3) not null default now(),
  -- What happened to a delivery group itself; for its stories there is story_id.
  group_id uuid generated always as
    (case when subject ->> 'type' = 'delivery_group' then (subject ->> 'id')::uuid end) stored,
  -- The stream, in commit order. Its time is in the key because a key of months must have it: that no number comes twice
  -- is the work of the row in streams, which gives each out once.
  primary key (org_id, seq, at)
) partition by range (at);
call app.keep_by_month('activity');
-- The stream of a project; of a story; of a member; of an agent; of a delivery group.
create index activity_project on activity (org_id, project_id, seq desc);
create index activity_story on activity (org_id, story_id, seq desc) where story_id is not null;
create index activity_member on activity (org_id, member_id, seq desc);
create index activity_agent on activity (org_id, agent_id, seq desc) where agent_id is not null;
create index activity_group on activity (org_id, group_id, seq desc) where group_id is not null;
-- What is left behind stays: the services change none of it, and remove none.
call app.guard_table('activity', 'select, insert');
call app.open_table('activity', 'muster_worker', 'select (org_id, seq), delete');
call app.open_table('activity', 'muster_door', 'select (org_id, seq, project_id, kind)');

create table audit (
  org_id uuid not null references orgs (id) on delete cascade,
  seq bigint not null,
  id uuid not null,
  at timestamptz(3) not null default now(),
  actor jsonb not null,
  member_id uuid,
  agent_id uuid,
  token_id uuid,
  operation text not null,
  target text,
  outcome text not null check (outcome in ('allowed', 'denied')),
  reason text,
  ip text,
  user_agent text,
  request_id text not null,
  -- What an entry says besides, where its target may be gone by the time that it is read.
  details jsonb check (jsonb_typeof(details) = 'object' and octet_length(details::text) <= 65536),
  primary key (org_id, seq, at)
) partition by range (at);
call app.keep_by_month('audit');
-- What did a member, or an agent, do? What was done by an operation? What was refused?
create index audit_member on audit (org_id, member_id, seq desc);
create index audit_agent on audit (org_id, agent_id, seq desc) where agent_id is not null;
create index audit_operation on audit (org_id, operation, seq desc);
create index audit_denied on audit (org_id, seq desc) where outcome = 'denied';
-- Which entries of an organization are past its retention? Which was the first since yesterday?
create index audit_age on audit (org_id, at);
call app.guard_table('audit', 'select, insert');
call app.open_table('audit', 'muster_operator', 'insert');
call app.open_table('audit', 'muster_door',
  'insert (org_id, seq, id, actor, member_id, operation, target, outcome, ip, user_agent, request_id, details)');
call app.open_table('audit', 'muster_platform', 'select (org_id, seq, at)');
call app.open_table('audit', 'muster_worker', 'select (org_id, seq, at), delete');

-- Work that follows from a write, written with it and marked done by the transaction that does it.
create table outbox (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  topic text not null,
  payload jsonb not null,
  created_at timestamptz(3) not null default now(),
  dispatch_after timestamptz(3) not null default now(),
  attempts int not null default 0,
  done_at timestamptz(3),
  dead_at timestamptz(3),
  -- Why the last attempt failed, for the operators' list of dead ones.
  error text,
  -- Whose trace asked for it, in W3C's words (traceparent), where traces are made; the transaction says so in a setting,
  -- so that whatever writes a row need not.
  trace_parent text default nullif(current_setting('muster.trace_parent', true), ''),
  primary key (org_id, id)
) with (autovacuum_vacuum_max_threshold = 50000);
-- What is to be dispatched next, of each topic by itself, so that one that waits holds up no other?
create index outbox_due on outbox (topic, dispatch_after) where done_at is null and dead_at is null;
-- What does a job answer that stands for all rows of its topic in an organization?
create index outbox_undone on outbox (org_id, topic) where done_at is null;
-- Which were done so long ago that they can go?
create index outbox_done on outbox (done_at) where done_at is not null;
-- What did the worker give up, until somebody replays it?
create index outbox_dead on outbox (dead_at) where dead_at is not null and done_at is null;
-- The worker finds what is due, and what goes: not what stands in it. Operators have what died tried again.
call app.guard_table('outbox');
call app.open_table('outbox', 'muster_operator', 'select, update');
call app.open_table('outbox', 'muster_platform', 'select (topic, dispatch_after, attempts, done_at, dead_at)');
call app.open_table('outbox', 'muster_worker', 'select (org_id, id, topic, created_at, dispatch_after, attempts, done_at,
  dead_at, trace_parent), update (dispatch_after, attempts), delete');

-- The first answer to a key, kept 24 hours per token and operation. Inserted by the write itself, so that only
-- a committed answer stays and a twin waits for it.
create table idempotency_keys (
  org_id uuid not null,
  token_id uuid not null,
  operation text not null,
  key text not null check (length(key) between 1 and 255),
  fingerprint bytea not null,
  response text,
  -- Where the answer repeats long texts of the request: those are not kept, since a retry sends them again.
  sent_texts jsonb,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, token_id, operation, key),
  foreign key (org_id, token_id) references tokens (org_id, id) on delete cascade
);
-- Which are past their day and can go?
create index idempotency_keys_age on idempotency_keys (created_at);
call app.guard_table('idempotency_keys');
call app.open_table('idempotency_keys', 'muster_worker', 'select (org_id, token_id, operation, key, created_at), delete');
