-- What the worker works with: a role that sees the outbox of all organizations, and what is past its day.
--   muster_worker  dispatches and purges; it reads no record of an organization, whose jobs run as muster_app
--                  inside that organization, under the same row security as every call.
do $$
begin
  if not exists (select from pg_roles where rolname = 'muster_worker') then
    create role muster_worker nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end $$;
grant muster_worker to current_user;
grant usage on schema public to muster_worker;

-- Why the last attempt failed, for the operators' list of dead ones.
alter table outbox add column error text;

-- What is to be dispatched next, of each topic by itself, so that one that waits holds up no other?
drop index outbox_due;
create index outbox_due on outbox (topic, dispatch_after) where done_at is null and dead_at is null;
-- What does a job answer that stands for all rows of its topic in an organization?
create index outbox_undone on outbox (org_id, topic) where done_at is null;
-- Which were done so long ago that they can go?
create index outbox_done on outbox (done_at) where done_at is not null;
-- What did the worker give up, until somebody replays it?
create index outbox_dead on outbox (dead_at) where dead_at is not null and done_at is null;
-- Which organizations were deleted, and when can they go?
create index orgs_deleted on orgs (deleted_at) where deleted_at is not null;
-- Which entries of an organization are past its retention?
create index audit_age on audit (org_id, at);

do $$
declare
  guarded text;
begin
  foreach guarded in array array['orgs', 'outbox', 'audit', 'activity', 'idempotency_keys'] loop
    -- The worker purges whatever organization it is of.
    execute format('create policy worker on %I to muster_worker using (true)', guarded);
  end loop;
end $$;
-- To find what is due, and what goes: not what stands in it.
grant select (org_id, id, topic, created_at, dispatch_after, attempts, done_at, dead_at),
  update (dispatch_after, attempts), delete on outbox to muster_worker;
grant select (id, policy, deleted_at), delete on orgs to muster_worker;
grant select (org_id, seq, at), delete on audit to muster_worker;
grant select (org_id, seq), delete on activity to muster_worker;
grant select (org_id, token_id, operation, key, created_at), delete on idempotency_keys to muster_worker;

-- Operators list what died and have it tried again.
create policy operators on outbox to muster_operator using (true);
grant select, update on outbox to muster_operator;
