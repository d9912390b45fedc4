-- Functions for operators of the installation, who may see rows of all organizations only through them. They
-- run as a role that can read only the columns it needs. Each checks that the transaction was entered with a
-- token of scope platform, so that no other operation, however it is tricked, can use them.

-- Raises MU403 unless this transaction was entered with a valid platform token, here or on the server that
-- sent this query.
create or replace function app.require_platform() returns void
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (
    select 1 from tokens t
    join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
    where t.hash = decode(current_setting('muster.platform_pass', true), 'hex') and 'platform' = any (t.scopes)
      and t.revoked_at is null and (t.expires_at is null or t.expires_at > now()))
    and not exists (
    select 1 from app.platform_passes p
    where p.hash = decode(current_setting('muster.platform_pass', true), 'hex') and p.expires_at > now()) then
    raise exception 'not for this token' using errcode = 'MU403';
  end if;
end $$;
call app.hand_over('app.require_platform()', 'muster_platform');

-- Lists for operators. Each scans an index from the end of the previous page and reads `most` rows at most.
-- It returns up to `wanted` matching rows, and one more if there is one. The last row read is returned
-- whether it matches or not, as the cursor of the next page. `nth` numbers the rows read.


-- Lists all members by address, with all of their organizations.
create or replace function app.platform_accounts(after_address text, pattern text, most int, wanted int)
returns table (nth bigint, fits boolean, address text, email text, name text, memberships jsonb)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.address, a.email, a.name, a.memberships
    from (select w.address, row_number() over (order by w.address) as nth from (
        select lower(m.email) collate "C" as address from members m
        where m.status = 'active' and lower(m.email) collate "C" > coalesce(after_address, '')
        group by 1 order by 1 limit most) w) l
    cross join lateral (
      select (array_agg(m.email order by m.created_at desc))[1] as email,
        (array_agg(m.name order by m.created_at desc))[1] as name,
        jsonb_agg(jsonb_build_object('orgId', o.id, 'orgSlug', o.slug, 'memberId', m.id, 'role', m.role) order by o.slug)
          as memberships
      from members m join orgs o on o.id = m.org_id
      where m.status = 'active' and lower(m.email) collate "C" = l.address) a
    cross join lateral (select pattern is null or l.address ilike pattern or a.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $$;
call app.hand_over('app.platform_accounts(text, text, int, int)', 'muster_platform');
grant execute on function app.platform_accounts(text, text, int, int) to muster_app;

-- Lists all organizations by slug, including those that are scheduled for purging.
create or replace function app.platform_orgs(after_slug text, pattern text, most int, wanted int)
returns table (
  nth bigint, fits boolean, id uuid, slug text, name text, plan text, status text, seats int, owner_email text, owner_name text,
  created_at timestamptz, deleted_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.id, l.slug, l.name, s.plan, s.status, s.seats, m.email, m.name, l.created_at, l.deleted_at
    from (select w.*, row_number() over (order by w.slug) as nth from (
        select o.id, o.slug, o.name, o.created_at, o.deleted_at from orgs o
        where o.slug > coalesce(after_slug, '') order by o.slug limit most) w) l
    join subscriptions s on s.org_id = l.id
    left join members m on m.org_id = l.id and m.role = 'owner' and m.status = 'active'
    cross join lateral (select pattern is null or l.slug ilike pattern or l.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $$;
call app.hand_over('app.platform_orgs(text, text, int, int)', 'muster_platform');
grant execute on function app.platform_orgs(text, text, int, int) to muster_app;

-- Lists all teams by name.
create or replace function app.platform_teams(after_name text, after_id uuid, pattern text, most int, wanted int)
returns table (
  nth bigint, fits boolean, sort_name text, id uuid, name text, description text, members bigint, created_at timestamptz,
  team_org_id uuid, org_slug text, org_name text)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.sort_name, l.id, l.name, l.description,
      (select count(*) from team_members tm where tm.org_id = l.org_id and tm.team_id = l.id), l.created_at,
      o.id, o.slug, o.name
    from (select w.*, row_number() over (order by w.sort_name, w.id) as nth from (
        select lower(t.name) collate "C" as sort_name, t.org_id, t.id, t.name, t.description, t.created_at from teams t
        where (lower(t.name) collate "C", t.id)
          > (coalesce(after_name, ''), coalesce(after_id, '00000000-0000-0000-0000-000000000000'))
        order by 1, t.id limit most) w) l
    join orgs o on o.id = l.org_id
    cross join lateral (
      select pattern is null or l.name ilike pattern or o.slug ilike pattern or o.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $$;
call app.hand_over('app.platform_teams(text, uuid, text, int, int)', 'muster_platform');
grant execute on function app.platform_teams(text, uuid, text, int, int) to muster_app;

-- Lists all subscriptions by the slug of their organization.
create or replace function app.platform_subscriptions(after_slug text, pattern text, most int, wanted int)
returns table (
  nth bigint, fits boolean, slug text, org_id uuid, org_name text, plan text, status text, seats int, current_period_end timestamptz,
  created_at timestamptz, updated_at timestamptz, version int)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    select l.nth, f.fits, l.slug, l.id, l.name, s.plan, s.status, s.seats, s.current_period_end, s.created_at, s.updated_at, s.version
    from (select w.*, row_number() over (order by w.slug) as nth from (
        select o.id, o.slug, o.name from orgs o
        where o.slug > coalesce(after_slug, '') order by o.slug limit most) w) l
    join subscriptions s on s.org_id = l.id
    cross join lateral (select pattern is null or l.slug ilike pattern or l.name ilike pattern as fits) f
    where f.fits or l.nth = most
    order by l.nth limit wanted + 1;
end $$;
call app.hand_over('app.platform_subscriptions(text, text, int, int)', 'muster_platform');
grant execute on function app.platform_subscriptions(text, text, int, int) to muster_app;

-- Returns true if a table has at most 32 MiB and can be counted, which takes some 30 ms. A larger table is
-- estimated from the last vacuum.
create or replace function app.is_counted(counted regclass) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select pg_relation_size(counted) <= 32 * 1024 * 1024
$$;
call app.hand_over('app.is_counted(regclass)', 'muster_platform');

create or replace function app.estimated_rows(counted regclass) returns bigint
language sql stable set search_path = pg_catalog, pg_temp as $$
  select greatest(c.reltuples, 0)::bigint from pg_class c where c.oid = counted
$$;
call app.hand_over('app.estimated_rows(regclass)', 'muster_platform');

-- Returns the figures of the installation. Organizations are always counted; `estimated` names the figures
-- that are not exact.
create or replace function app.platform_metrics()
returns table (
  at timestamptz, orgs bigint, accounts bigint, projects bigint, stories bigint, estimated text[], plans jsonb,
  queues jsonb, outbox_lag_seconds bigint, operations_last_24h bigint)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    -- A dispatched row stays with a worker until it is due to be dispatched again.
    with pending as (
      select b.topic, min(b.dispatch_after) as due_since, count(*) filter (where b.dispatch_after <= now()) as waiting,
        count(*) filter (where b.dispatch_after > now() and b.attempts > 0) as active,
        count(*) filter (where b.dispatch_after > now() and b.attempts = 0) as delayed, 0 as failed
      from outbox b where b.done_at is null and b.dead_at is null group by 1
      union all
      select b.topic, null, 0, 0, 0, count(*) from outbox b where b.dead_at is not null and b.done_at is null group by 1)
    select now(),
      (select count(*) from orgs o where o.deleted_at is null),
      case when app.is_counted('members')
        then (select count(distinct lower(m.email)) from members m where m.status = 'active')
        else app.estimated_rows('members') end,
      case when app.is_counted('projects') then (select count(*) from projects) else app.estimated_rows('projects') end,
      case when app.is_counted('stories')
        then (select count(*) from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id)
        else app.estimated_rows('stories') end,
      array(select case big.name when 'members' then 'accounts' else big.name end
        from unnest(array['members', 'projects', 'stories']) big (name) where not app.is_counted(big.name::regclass)),
      (select coalesce(jsonb_object_agg(s.plan, s.count), '{}') from (
        select s.plan, count(*) from subscriptions s join orgs o on o.id = s.org_id and o.deleted_at is null group by 1) s),
      (select coalesce(jsonb_object_agg(q.topic, jsonb_build_object(
          'waiting', q.waiting, 'active', q.active, 'delayed', q.delayed, 'failed', q.failed)), '{}')
        from (select p.topic, sum(p.waiting) as waiting, sum(p.active) as active, sum(p.delayed) as delayed,
            sum(p.failed) as failed from pending p group by 1) q),
      (select coalesce(floor(extract(epoch from greatest(now() - min(p.due_since), interval '0'))), 0)::bigint from pending p),
      -- Computed from the numbers of the entries, which have no gaps. An organization with a million entries
      -- takes no longer than one with ten.
      (select coalesce(sum(s.audit - e.seq + 1
          - case when e.seq <= s.audit_lost_after then s.lost_until - s.lost_after else 0 end), 0)::bigint
        from streams s cross join lateral (
          select a.seq from audit a where a.org_id = s.org_id and a.at > now() - interval '24 hours' order by a.at limit 1) e);
end $$;
call app.hand_over('app.platform_metrics()', 'muster_platform');
grant execute on function app.platform_metrics() to muster_app;

-- Counts the executions in each state like app.open_executions, including completed ones. A small table is
-- counted, a larger one is estimated from the last vacuum.
create or replace function app.platform_executions()
returns table (states jsonb, estimated boolean)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
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
call app.hand_over('app.platform_executions()', 'muster_platform');
grant execute on function app.platform_executions() to muster_app;
