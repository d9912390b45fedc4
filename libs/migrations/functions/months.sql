-- Returns the monthly partitions of all partitioned tables. `ends` is null for the default partition, which
-- receives rows without a month.
create or replace function app.months()
returns table (kept regclass, held regclass, ends timestamptz)
language sql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
  select i.inhparent::regclass, c.oid::regclass,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''(.+)''\)')::timestamptz
  from pg_class c join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace = 'months'::regnamespace and c.relkind = 'r'
$$;
revoke all on function app.months() from public;

-- Creates a monthly partition if it is missing, and returns true if it did. Rows of a month that was not
-- created in time stay in the default partition, and that month gets no partition.
create or replace function app.make_month(kept regclass, begins timestamptz) returns boolean
language plpgsql set search_path = pg_catalog, public, pg_temp set timezone = 'UTC' as $$
declare
  month text := kept || to_char(begins, '_YYYY_MM');
  ends timestamptz := begins + interval '1 month';
  has_strays boolean;
  field name;
  option text;
begin
  if to_regclass(format('months.%I', month)) is not null then return false; end if;
  execute format('select exists (select 1 from months.%I where at >= $1 and at < $2)', kept || '_else')
    into has_strays using begins, ends;
  if has_strays then return false; end if;
  -- The partition is created separately and attached, so that readers and writers of other months continue.
  execute format('create table months.%I (like %s including all)', month, kept);
  execute format('alter table months.%I enable row level security', month);
  -- The statistics options of columns (migration 0015) are not copied with the table.
  for field, option in
    select a.attname, o.option_value from pg_attribute a, pg_options_to_table(a.attoptions) o
    where a.attrelid = kept and o.option_name = 'n_distinct' loop
    execute format('alter table months.%I alter column %I set (n_distinct = %s)', month, field, option);
  end loop;
  execute format('alter table %s attach partition months.%I for values from (%L) to (%L)', kept, month, begins, ends);
  return true;
end $$;
revoke all on function app.make_month(regclass, timestamptz) from public;

-- Creates the partitions of this month and the next two if they are missing, and drops audit partitions that
-- ended more than `audit_days` days ago (null drops none). Returns the names of both. It runs as the
-- migrating role, since only a table's owner may do this. The worker calls it, and no argument becomes part
-- of a name. It gives up if the tables are locked, and is called again later.
create or replace function app.keep_months(audit_days int)
returns table (month text, done text)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set timezone = 'UTC' set lock_timeout = '1s' as $$
declare
  kept regclass;
  begins timestamptz;
  held regclass;
begin
  -- Concurrent calls would create the same partition.
  perform pg_advisory_xact_lock(4105);
  for kept in select p.partrelid::regclass from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
    where c.relnamespace = 'public'::regnamespace order by 1 loop
    for begins in select generate_series(date_trunc('month', now()), date_trunc('month', now()) + interval '2 months', interval '1 month') loop
      continue when not app.make_month(kept, begins);
      month := kept || to_char(begins, '_YYYY_MM');
      done := 'made';
      return next;
    end loop;
  end loop;
  for held, month in
    select m.held, c.relname from app.months() m join pg_class c on c.oid = m.held
    where m.kept = 'audit'::regclass and audit_days > 0 and m.ends < now() - make_interval(days => audit_days) order by m.ends loop
    execute format('drop table %s', held);
    done := 'dropped';
    return next;
  end loop;
end $$;
revoke all on function app.keep_months(int) from public;
grant execute on function app.keep_months(int) to muster_worker;

select app.keep_months(null);
