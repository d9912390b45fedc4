-- Leases past their time: found by the worker's sweep, and counted. Locks past theirs: removed.

-- Which leases are past their time, and nobody was told? When will the next one be? What was noted is not looked at
-- again. A renewal pays for each index that has the time in it, so the one over all that are held goes.
create index leases_due on leases (expires_at) where state = 'held' and not expiry_noted;
drop index leases_expiry;

grant usage on schema app to muster_worker;
-- The worker finds what is due, and how much; who holds it is read inside the organization.
create policy worker on leases to muster_worker using (true);
grant select (org_id, unit_type, unit_id, state, expires_at, expiry_noted) on leases to muster_worker;
-- A lock past its time is none, so whoever's it was, it can go.
create policy worker on locks to muster_worker using (true);
grant select (org_id, id, expires_at), delete on locks to muster_worker;

-- How many executions that are not completed are in each state, as readers see it: stalled past the lease's time,
-- available past an offer's. Numbers alone, of all organizations.
grant create on schema app to muster_door;
grant select on leases to muster_door;
create policy the_door on leases to muster_door using (true);
create function app.open_executions()
returns table (state text, executions bigint)
language sql stable security definer set search_path = pg_catalog, public
begin atomic
  select case
      when e.state in ('leased', 'waiting_input') and l.expires_at <= now() then 'stalled'
      when e.state = 'offered' and (e.offer ->> 'expiresAt')::timestamptz <= now() then 'available'
      else e.state end as shown, count(*)
  from public.executions e
  left join public.leases l on l.org_id = e.org_id and l.unit_type = e.target_type and l.unit_id = e.target_id
    and l.state = 'held'
  where e.state <> 'completed'
  group by shown;
end;
alter function app.open_executions() owner to muster_door;
revoke all on function app.open_executions() from public;
grant execute on function app.open_executions() to muster_platform, muster_worker;
revoke create on schema app from muster_door;

-- The same for operators, with those that are completed: counted in a small table, else by the last vacuum's estimate.
grant create on schema app to muster_platform;
grant select (org_id) on executions to muster_platform;
create policy the_platform on executions for select to muster_platform using (true);
create function app.platform_executions()
returns table (states jsonb, estimated boolean)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
begin
  perform app.require_platform();
  return query
    with open as materialized (select o.state, o.executions from app.open_executions() o),
    every as (select case when app.is_counted('executions')
        then (select count(*) from executions) else app.estimated_rows('executions') end as executions)
    select jsonb_object_agg(s.state, s.executions), not app.is_counted('executions')
    from (select o.state, o.executions from open o
      union all
      select 'completed', greatest(every.executions - coalesce((select sum(o.executions) from open o), 0), 0) from every) s;
end $$;
alter function app.platform_executions() owner to muster_platform;
revoke all on function app.platform_executions() from public;
grant execute on function app.platform_executions() to muster_app;
revoke create on schema app from muster_platform;
