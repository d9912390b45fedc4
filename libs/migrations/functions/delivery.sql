-- Where the streams of executions stand, for those who wait for them: numbers alone, so any process may ask.
create or replace function app.stream_positions(orgs uuid[], wanted uuid[])
returns table (execution_id uuid, last_seq int)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select e.id, e.last_event_seq
    from unnest(orgs, wanted) as w (org_id, id)
    join public.executions e on e.org_id = w.org_id and e.id = w.id;
end $$;
call app.hand_over('app.stream_positions(uuid[], uuid[])', 'muster_door');
grant execute on function app.stream_positions(uuid[], uuid[]) to muster_app;

-- Claims the first of some stories for this transaction, against others that look for the next one, and answers its place
-- among them; 0 where each is claimed, or held by now. Whoever moves or edits a story knows nothing of claims.
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
    -- Statements of their own: each sees what was committed while this looked or waited.
    if not exists (
        select 1 from leases l where l.org_id = org and l.unit_type = 'story' and l.unit_id = ids[nth]
          and l.state = 'held' and l.expires_at > clock_timestamp()) then
      return nth;
    end if;
  end loop;
  return 0;
end $$;

-- The sweep looks at a lease at its end as the grant has it, or earlier where that comes to be earlier. Where a renewal puts it
-- off, the time of the look stays: it is in an index, which a renewal then leaves as it is (0016_lease_renewals).
create or replace function app.keep_look() returns trigger
language plpgsql as $$
begin
  new.due_at := case when old.state = 'held' then least(new.due_at, new.expires_at) else coalesce(new.expires_at, new.due_at) end;
  return new;
end $$;
create or replace trigger leases_look_kept before update of expires_at on leases for each row execute function app.keep_look();

-- The state of an execution as readers see it: time may have passed since it was written. What the table of states says
-- (libs/delivery/src/leases/states.ts), for statements; a spec compares the two.
create or replace function app.shown_state(stored text, lease_expires_at timestamptz, offer_expires_at timestamptz, now timestamptz)
returns text
language sql immutable parallel safe as $$
  select case
    when stored in ('leased', 'waiting_input') and lease_expires_at <= now then 'stalled'
    when stored = 'offered' and offer_expires_at <= now then 'available'
    else stored end
$$;

-- How many executions that are not completed are in each state, as readers see it: stalled past the lease's time,
-- available past an offer's. Numbers alone, of all organizations.
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
