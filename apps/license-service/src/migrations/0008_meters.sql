-- Usage meters: licensed programs report their usage, which is summed per license, meter and period.

-- 0010 validates the constraints, because a scan of the tables here would block activations. Licenses are altered before
-- plans, in the order of activations.
alter table licenses.licenses
  -- The license's own meters, which override those of the plan.
  add column meters jsonb not null default '{}',
  add constraint licenses_meters_check check (jsonb_typeof(meters) = 'object' and octet_length(meters::text) <= 4096) not valid;
alter table licenses.plans
  -- The meters, such as {"exports": {"limit": 100, "period": "month", "overLimit": "refuse"}}. A change also applies to
  -- issued licenses.
  add column meters jsonb not null default '{}',
  add constraint plans_meters_check check (jsonb_typeof(meters) = 'object' and octet_length(meters::text) <= 4096) not valid;

-- The usage of a license, one row for each meter and period.
create table licenses.license_usage (
  license_id uuid not null references licenses.licenses,
  meter text not null check (char_length(meter) between 1 and 32),
  -- A month in UTC such as 2027-03, or total.
  period text not null check (period ~ '^(total|\d{4}-\d{2})$'),
  used bigint not null default 0 check (used >= 0),
  -- The number of events that were counted on one day, which is limited.
  events_day date not null,
  events_of_day int not null default 0,
  updated_at timestamptz(3) not null,
  primary key (license_id, meter, period)
);

-- Finds the usage of old months to delete.
create index license_usage_period on licenses.license_usage (period) where period <> 'total';

-- The ids of counted events, so that a repeated event is not counted again.
create table licenses.license_usage_events (
  license_id uuid not null references licenses.licenses,
  event_id text not null check (char_length(event_id) between 1 and 64),
  recorded_at timestamptz(3) not null,
  primary key (license_id, event_id)
);
-- Finds old ids to delete.
create index license_usage_events_age on licenses.license_usage_events (recorded_at);

-- Counts events of a license, each once. The caller holds the lock on the license. An event that does not fit into its
-- limit is refused and keeps no id; later events of the batch may still fit. Returns the outcome of each event, and the
-- usage of each meter in the current period and in the periods of the events.
create function licenses.count_usage(license uuid, terms jsonb, events jsonb, now timestamptz) returns jsonb
language plpgsql volatile set search_path = pg_catalog as $$
declare
  max_age constant interval := '35 days';
  max_clock_error constant interval := '1 day';
  max_events_per_day constant int := 10000;
  activated constant timestamptz := (select l.activated_at from licenses.licenses l where l.id = license);
  today constant date := (now at time zone 'UTC')::date;
  event jsonb;
  term jsonb;
  event_at timestamptz;
  event_period text;
  row_of licenses.license_usage;
  refused text;
  outcomes jsonb[] := '{}';
  touched jsonb[] := '{}';
  usage jsonb;
begin
  for event in select value from jsonb_array_elements(events) loop
    term := terms -> (event->>'meter');
    event_at := coalesce((event->>'at')::timestamptz, now);
    refused := case
      when term is null then 'unknown_meter'
      when event_at < now - max_age then 'too_old'
      when event_at > now + max_clock_error then 'in_future'
    end;
    if refused is null then
      -- A license has no usage before its activation, so that earlier months are no second allowance.
      event_period := case when term->>'period' = 'total' then 'total'
        else to_char(least(greatest(event_at, activated), now) at time zone 'UTC', 'YYYY-MM') end;
      touched := touched || jsonb_build_object('meter', event->>'meter', 'period', event_period);
      if exists (select from licenses.license_usage_events e where e.license_id = license and e.event_id = event->>'id') then
        outcomes := outcomes || jsonb_build_object('id', event->>'id', 'outcome', 'repeated', 'reason', null);
        continue;
      end if;
      insert into licenses.license_usage (license_id, meter, period, events_day, updated_at)
        values (license, event->>'meter', event_period, today, now) on conflict do nothing;
      select * into row_of from licenses.license_usage u
        where u.license_id = license and u.meter = event->>'meter' and u.period = event_period;
      refused := case
        when term->>'overLimit' = 'refuse' and row_of.used + (event->>'quantity')::bigint > (term->>'limit')::bigint
          then 'meter_exceeded'
        when row_of.events_day = today and row_of.events_of_day >= max_events_per_day then 'too_many_events'
      end;
    end if;
    if refused is null then
      insert into licenses.license_usage_events (license_id, event_id, recorded_at) values (license, event->>'id', now);
      update licenses.license_usage u set used = u.used + (event->>'quantity')::bigint, updated_at = now, events_day = today,
        events_of_day = case when u.events_day = today then u.events_of_day else 0 end + 1
        where u.license_id = license and u.meter = event->>'meter' and u.period = event_period;
    end if;
    outcomes := outcomes || jsonb_build_object('id', event->>'id',
      'outcome', case when refused is null then 'counted' else 'refused' end, 'reason', refused);
  end loop;
  select jsonb_agg(jsonb_build_object('meter', m.meter, 'period', m.period, 'used', coalesce(u.used, 0),
      'limit', terms->m.meter->'limit') order by m.meter, m.period) into usage
    from (
      select t.key as meter, case when t.value->>'period' = 'total' then 'total'
        else to_char(now at time zone 'UTC', 'YYYY-MM') end as period from jsonb_each(terms) t
      union select t->>'meter', t->>'period' from unnest(touched) t) m
    left join licenses.license_usage u on u.license_id = license and u.meter = m.meter and u.period = m.period;
  return jsonb_build_object('events', to_jsonb(outcomes), 'meters', coalesce(usage, '[]'));
end $$;

alter table licenses.license_events drop constraint license_events_kind_check;
-- contract of 0003_operators: it allows every kind that was allowed before, and one more.
alter table licenses.license_events add constraint license_events_kind_check
  check (kind in ('issued', 'imported', 'activated', 'released', 'transferred', 'suspended', 'resumed', 'revoked',
    'renewed', 'rotated', 'certified', 'entitled', 'resized', 'usage_reset', 'expiring', 'expired')) not valid;

-- The service cannot delete ids of events, so a machine cannot be counted twice or freed of its usage.
grant select, insert on licenses.license_usage_events to muster_licenses;
grant select, insert, update on licenses.license_usage to muster_licenses;
grant select, delete on licenses.license_usage_events to muster_license_operators;
grant select, insert, update, delete on licenses.license_usage to muster_license_operators;
grant update (meters) on licenses.licenses to muster_license_operators;
