-- Where the streams of executions stand, for those who wait for them: numbers alone, so any process may ask.
create or replace function app.stream_positions(orgs uuid[], wanted uuid[])
returns table (execution_id uuid, last_seq int)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select e.id, e.last_event_seq
  from unnest(orgs, wanted) as w (org_id, id)
  join public.executions e on e.org_id = w.org_id and e.id = w.id
$$;
call app.hand_over('app.stream_positions(uuid[], uuid[])', 'muster_door');
grant execute on function app.stream_positions(uuid[], uuid[]) to muster_app;

-- How many executions that are not completed are in each state, as readers see it: stalled past the lease's time,
-- available past an offer's. Numbers alone, of all organizations.
create or replace function app.open_executions()
returns table (state text, executions bigint)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select case
      when e.state in ('leased', 'waiting_input') and l.expires_at <= now() then 'stalled'
      when e.state = 'offered' and (e.offer ->> 'expiresAt')::timestamptz <= now() then 'available'
      else e.state end as shown, count(*)
  from public.executions e
  join public.projects p on p.org_id = e.org_id and p.id = e.project_id and p.deleted_at is null
  left join public.leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
    and l.state = 'held'
  where e.state <> 'completed'
  group by shown
$$;
call app.hand_over('app.open_executions()', 'muster_door');
grant execute on function app.open_executions() to muster_platform, muster_worker;
