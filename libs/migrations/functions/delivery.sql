-- Returns the stream positions of executions, of inboxes by their recipient, and of the logs of runs, for callers that
-- wait for new entries. The position of a log advances by one when its run ends.
-- It returns only numbers, so any process may call it.
create or replace function app.stream_positions(orgs uuid[], wanted uuid[])
returns table (execution_id uuid, last_seq int)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select e.id, e.last_event_seq
    from unnest(orgs, wanted) as w (org_id, id)
    join public.executions e on e.org_id = w.org_id and e.id = w.id
    union all
    select i.recipient_id, i.last_seq
    from unnest(orgs, wanted) as w (org_id, id)
    join public.inbox_streams i on i.org_id = w.org_id and i.recipient_id = w.id
    union all
    select r.id, r.log_lines + (r.ended_at is not null)::int
    from unnest(orgs, wanted) as w (org_id, id)
    join public.agent_runs r on r.org_id = w.org_id and r.id = w.id;
end $$;
call app.hand_over('app.stream_positions(uuid[], uuid[])', 'muster_door');
grant execute on function app.stream_positions(uuid[], uuid[]) to muster_app;

-- Records for how long from now some agents wait for their inboxes. Recipients that are no agents are ignored.
create or replace function app.note_listeners(orgs uuid[], recipients uuid[], seconds int) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into public.inbox_streams (org_id, recipient_id, last_seq, listens_until)
  select a.org_id, a.id, 0, now() + make_interval(secs => seconds)
  from unnest(orgs, recipients) as w (org_id, id)
  join public.agents a on a.org_id = w.org_id and a.id = w.id and a.retired_at is null
  group by a.org_id, a.id order by a.org_id, a.id
  on conflict (org_id, recipient_id) do update set listens_until = excluded.listens_until;
end $$;
call app.hand_over('app.note_listeners(uuid[], uuid[], int)', 'muster_door');
grant execute on function app.note_listeners(uuid[], uuid[], int) to muster_app;

-- Claims the first unclaimed of some stories for this transaction, against other calls that look for the next
-- story. Returns its position in the list, or 0 if each one is claimed or leased. Moving or editing a story
-- ignores claims.
create or replace function app.claim_next(org uuid, ids uuid[], waits boolean) returns int
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
  claim bigint;
begin
  for nth in 1 .. cardinality(ids) loop
    claim := hashtextextended('next ' || ids[nth]::text, 0);
    if waits then
      perform pg_advisory_xact_lock(claim);
    elsif not pg_try_advisory_xact_lock(claim) then
      continue;
    end if;
    -- These are separate statements, so that each sees what was committed during the search or the wait.
    if not exists (
        select 1 from leases l where l.org_id = org and l.unit_type = 'story' and l.unit_id = ids[nth]
          and l.state = 'held' and l.expires_at > clock_timestamp()) then
      return nth;
    end if;
  end loop;
  return 0;
end $$;

-- Schedules the sweep of a lease at its end, or earlier if the end moves forward. A renewal that postpones
-- the end leaves the time unchanged. The time is indexed, and a renewal must not update the index
-- (0016_lease_renewals).
create or replace function app.keep_look() returns trigger
language plpgsql as $$
begin
  new.due_at := case when old.state = 'held' then least(new.due_at, new.expires_at) else coalesce(new.expires_at, new.due_at) end;
  return new;
end $$;
create or replace trigger leases_look_kept before update of expires_at on leases for each row execute function app.keep_look();

-- Returns the state of an execution as readers see it, since time may have passed since it was written. It
-- implements the table of states (libs/delivery/src/leases/states.ts) for SQL statements; a spec compares the
-- two.
create or replace function app.shown_state(stored text, lease_expires_at timestamptz, offer_expires_at timestamptz, now timestamptz)
returns text
language sql immutable parallel safe as $$
  select case
    when stored in ('leased', 'waiting_input') and lease_expires_at <= now then 'stalled'
    when stored = 'offered' and offer_expires_at <= now then 'available'
    else stored end
$$;

-- Counts the executions that are not completed by their state as readers see it: stalled after the lease has
-- expired, available after an offer has expired. It returns only numbers, of all organizations.
create or replace function app.open_executions()
returns table (state text, executions bigint)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select app.shown_state(e.state, l.expires_at, (e.offer ->> 'expiresAt')::timestamptz, now()) as shown, count(*)
    from public.executions e
    join public.projects p on p.org_id = e.org_id and p.id = e.project_id and p.deleted_at is null
    left join public.leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
      and l.state = 'held'
    where e.state <> 'completed'
    group by shown;
end $$;
call app.hand_over('app.open_executions()', 'muster_door');
grant execute on function app.open_executions() to muster_platform, muster_worker;
