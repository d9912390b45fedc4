-- Where each organization's streams stand. One row, locked by the last statement of a transaction until its
-- commit: so numbers have no gaps and follow the order of commits, which a sequence cannot do.
create table streams (
  org_id uuid primary key references orgs (id) on delete cascade,
  activity bigint not null default 0,
  audit bigint not null default 0
);

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
  -- The stream, in commit order.
  primary key (org_id, seq)
);
-- The stream of a project; of a story; of a member; of an agent.
create index activity_project on activity (org_id, project_id, seq desc);
create index activity_story on activity (org_id, story_id, seq desc) where story_id is not null;
create index activity_member on activity (org_id, member_id, seq desc);
create index activity_agent on activity (org_id, agent_id, seq desc) where agent_id is not null;

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
  primary key (org_id, seq)
);
-- What did a member, or an agent, do? What was done by an operation? What was refused?
create index audit_member on audit (org_id, member_id, seq desc);
create index audit_agent on audit (org_id, agent_id, seq desc) where agent_id is not null;
create index audit_operation on audit (org_id, operation, seq desc);
create index audit_denied on audit (org_id, seq desc) where outcome = 'denied';

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
  primary key (org_id, id)
);
-- What is to be dispatched next?
create index outbox_due on outbox (dispatch_after) where done_at is null and dead_at is null;

-- The first answer to a key, kept 24 hours per token and operation. Inserted by the write itself, so that only
-- a committed answer stays and a twin waits for it.
create table idempotency_keys (
  org_id uuid not null,
  token_id uuid not null,
  operation text not null,
  key text not null check (length(key) between 1 and 255),
  fingerprint bytea not null,
  response text,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, token_id, operation, key),
  foreign key (org_id, token_id) references tokens (org_id, id) on delete cascade
);
-- Which are past their day and can go?
create index idempotency_keys_age on idempotency_keys (created_at);

-- Claims a key for this transaction. MU409: it is taken, the answer (or a mismatch) is in the row.
create function app.claim_key(org uuid, token uuid, op text, wanted text, print bytea) returns void
language plpgsql set search_path = pg_catalog, public as $$
begin
  insert into idempotency_keys as k (org_id, token_id, operation, key, fingerprint)
    values (org, token, op, wanted, print)
    on conflict (org_id, token_id, operation, key) do update
      set fingerprint = excluded.fingerprint, response = null, created_at = now()
      where k.created_at < now() - interval '24 hours';
  if not found then
    raise exception 'idempotency key taken' using errcode = 'MU409';
  end if;
end $$;
