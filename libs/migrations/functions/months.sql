-- The months that there are, of all tables that are kept by month. Where a row goes that has none, `ends` is null.
create or replace function app.months()
returns table (kept regclass, held regclass, ends timestamptz)
language sql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
  select i.inhparent::regclass, c.oid::regclass,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''(.+)''\)')::timestamptz
  from pg_class c join pg_inherits i on i.inhrelid = c.oid
  where c.relnamespace = 'months'::regnamespace and c.relkind = 'r'
$$;
revoke all on function app.months() from public;

-- Makes a month of a table where it is missing, and answers whether it did. Rows that came while nobody made months stay where they
-- are: such a month is done without.
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
  -- Made beside the table and attached: readers and writers of the other months go on meanwhile.
  execute format('create table months.%I (like %s including all)', month, kept);
  execute format('alter table months.%I enable row level security', month);
  -- What is said of the values of a column (migration 0015) is not copied with it.
  for field, option in
    select a.attname, o.option_value from pg_attribute a, pg_options_to_table(a.attoptions) o
    where a.attrelid = kept and o.option_name = 'n_distinct' loop
    execute format('alter table months.%I alter column %I set (n_distinct = %s)', month, field, option);
  end loop;
  execute format('alter table %s attach partition months.%I for values from (%L) to (%L)', kept, month, begins, ends);
  return true;
end $$;
revoke all on function app.make_month(regclass, timestamptz) from public;

-- Makes this month and the two after it where they are missing, and drops those of the audit that ended more than so many
-- days ago (null drops none); answers the names of both. It runs as whoever migrates, for only a table's owner may; the worker calls it, and
-- nothing that it is told becomes a name. It gives way to whoever works on the tables, and is called again.
create or replace function app.keep_months(audit_days int)
returns table (month text, done text)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp set timezone = 'UTC' set lock_timeout = '1s' as $$
declare
  kept regclass;
  begins timestamptz;
  held regclass;
begin
  -- Two at once would make the same month.
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
