-- What nobody looks at any more goes: notifications that were read, runs of agents that have ended.

-- Which notifications are past their day? One that never was for an inbox is read by nobody, and as old as it is.
create index notifications_over on notifications (coalesce(read_at, created_at)) where read_at is not null or not in_inbox;
-- The worker removes them, and reads nothing else of them. None of them is counted as unread.
create policy worker on notifications to muster_worker using (true);
grant select (org_id, id, in_inbox, read_at, created_at), delete on notifications to muster_worker;

-- Which runs ended long ago?
create index agent_runs_over on agent_runs (ended_at) where ended_at is not null;
-- The worker removes them.
create policy worker on agent_runs to muster_worker using (true);
grant select (org_id, id, ended_at), delete on agent_runs to muster_worker;
