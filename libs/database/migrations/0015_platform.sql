-- What operators of the installation may see: rows of all organizations, through functions alone. They run as a role
-- that reads just these columns, and each asks for the pass that the door gives to a token of scope platform; so
-- that no other operation, however it is tricked, sees anything through them.
grant create on schema app to muster_platform;

grant select (id, slug, name, created_at, deleted_at) on orgs to muster_platform;
grant select (org_id, plan, status, seats, current_period_end, created_at, updated_at, version) on subscriptions to muster_platform;
grant select (org_id, id, email, name, role, status, created_at) on members to muster_platform;
grant select (org_id, id, name, description, created_at) on teams to muster_platform;
grant select (org_id, team_id) on team_members to muster_platform;
grant select (org_id, member_id, hash, scopes, expires_at, revoked_at) on tokens to muster_platform;
grant select (org_id) on projects, stories to muster_platform;
grant select (topic, dispatch_after, attempts, done_at, dead_at) on outbox to muster_platform;
grant select (at) on audit to muster_platform;
do $$
declare
  shown text;
begin
  foreach shown in array array[
    'orgs', 'subscriptions', 'members', 'teams', 'team_members', 'tokens', 'projects', 'stories', 'outbox', 'audit'] loop
    execute format('create policy the_platform on %I for select to muster_platform using (true)', shown);
  end loop;
end $$;

-- Whose address is this, in all organizations? Also the accounts in order.
create index members_accounts on members ((lower(email) collate "C")) where status = 'active';
-- The teams of all organizations in order.
create index teams_everywhere on teams ((lower(name) collate "C"), id);
-- How many operations since yesterday? Entries lie in the order in which they came.
create index audit_at on audit using brin (at) with (pages_per_range = 32, autosummarize = on);

-- Raises MU403 unless the token that this transaction was entered with is a platform token that is good.
create function app.require_platform() returns void
language plpgsql stable security definer set search_path = pg_catalog, public as $$
begin
  if not exists (
    select from tokens t
    join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
    where t.hash = decode(current_setting('muster.platform_pass', true), 'hex') and 'platform' = any (t.scopes)
      and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())) then
    raise exception 'not for this token' using errcode = 'MU403';
  end if;
end $$;

-- The lists. Each walks down an index from where the page before ended, looks at so many (`most`) at most, and answers
-- `wanted` of those whose texts are like the pattern, and one more where there is one. The last that may be looked at
-- comes along whether it fits or not, as the signpost of the next page. `nth` numbers what was looked at.

-- By address: everybody who is in an organization, with all organizations that they are in.
create function app.platform_accounts(after_address text, pattern text, most int, wanted int)
returns table (nth bigint, fits boolean, address text, email text, name text, memberships jsonb)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
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

-- By slug, those that are to be purged among them.
create function app.platform_orgs(after_slug text, pattern text, most int, wanted int)
returns table (
  nth bigint, fits boolean, id uuid, slug text, name text, plan text, status text, seats int, owner_email text, owner_name text,
  created_at timestamptz, deleted_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
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

-- By name.
create function app.platform_teams(after_name text, after_id uuid, pattern text, most int, wanted int)
returns table (
  nth bigint, fits boolean, sort_name text, id uuid, name text, description text, members bigint, created_at timestamptz,
  team_org_id uuid, org_slug text, org_name text)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
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

-- By the slug of their organization.
create function app.platform_subscriptions(after_slug text, pattern text, most int, wanted int)
returns table (
  nth bigint, fits boolean, slug text, org_id uuid, org_name text, plan text, status text, seats int, current_period_end timestamptz,
  created_at timestamptz, updated_at timestamptz, version int)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
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

-- A table of at most 32 MiB is counted, which takes some 30 ms; of a larger one the last vacuum's estimate has to do.
create function app.is_counted(counted regclass) returns boolean
language sql stable set search_path = pg_catalog
return pg_relation_size(counted) <= 32 * 1024 * 1024;
create function app.estimated_rows(counted regclass) returns bigint
language sql stable set search_path = pg_catalog
begin atomic
  select greatest(c.reltuples, 0)::bigint from pg_class c where c.oid = counted;
end;

-- The installation in numbers. Organizations are always counted; `estimated` names what was not.
create function app.platform_metrics()
returns table (
  at timestamptz, orgs bigint, accounts bigint, projects bigint, stories bigint, estimated text[], plans jsonb,
  queues jsonb, outbox_lag_seconds bigint, operations_last_24h bigint)
language plpgsql stable security definer set search_path = pg_catalog, public as $$
#variable_conflict use_column
begin
  perform app.require_platform();
  return query
    -- A row that was handed over is with a worker until its time to be handed over again has come.
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
      case when app.is_counted('stories') then (select count(*) from stories) else app.estimated_rows('stories') end,
      array(select case big.name when 'members' then 'accounts' else big.name end
        from unnest(array['members', 'projects', 'stories']) big (name) where not app.is_counted(big.name::regclass)),
      (select coalesce(jsonb_object_agg(s.plan, s.count), '{}') from (
        select s.plan, count(*) from subscriptions s join orgs o on o.id = s.org_id and o.deleted_at is null group by 1) s),
      (select coalesce(jsonb_object_agg(q.topic, jsonb_build_object(
          'waiting', q.waiting, 'active', q.active, 'delayed', q.delayed, 'failed', q.failed)), '{}')
        from (select p.topic, sum(p.waiting) as waiting, sum(p.active) as active, sum(p.delayed) as delayed,
            sum(p.failed) as failed from pending p group by 1) q),
      (select coalesce(floor(extract(epoch from greatest(now() - min(p.due_since), interval '0'))), 0)::bigint from pending p),
      (select count(*) from audit e where e.at > now() - interval '24 hours');
end $$;

do $$
declare
  shown regprocedure;
begin
  for shown in select p.oid::regprocedure from pg_proc p where p.pronamespace = 'app'::regnamespace
    and (p.proname like 'platform\_%' or p.proname in ('require_platform', 'is_counted', 'estimated_rows')) loop
    execute format('alter function %s owner to muster_platform', shown);
    execute format('revoke all on function %s from public', shown);
  end loop;
  for shown in select p.oid::regprocedure from pg_proc p
    where p.pronamespace = 'app'::regnamespace and p.proname like 'platform\_%' loop
    execute format('grant execute on function %s to muster_app', shown);
  end loop;
end $$;
revoke create on schema app from muster_platform;
