-- Returns the cost of tokens in millionths of the currency; 0 without a price. The organization's own prices come before the
-- built-in ones (app.default_usage_prices), a longer model name before a shorter one that is its beginning, and the
-- newest price that was valid on the day before older ones. The cost is at most the highest that a run can report.
create or replace function app.usage_cost(org uuid, used_model text, used_currency text, used_on date, input bigint, output bigint, cached bigint)
returns bigint language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
begin
  return least(1000000000000000, coalesce((
    select round((input::numeric * p.input_micros + output::numeric * p.output_micros + cached::numeric * p.cached_micros) / 1000000)
    from (
      select true as is_own, u.* from (select model, currency, valid_from, input_micros, output_micros, cached_micros
        from usage_prices where org_id = org) u
      union all
      select false, d.* from app.default_usage_prices() d
    ) p
    where starts_with(used_model, p.model) and p.currency = used_currency and p.valid_from <= used_on
    order by p.is_own desc, length(p.model) desc, p.valid_from desc limit 1), 0))::bigint;
end $$;

-- The built-in prices: millionths of the currency per million tokens, as the vendors listed them on the given day.
create or replace function app.default_usage_prices()
returns table (model text, currency text, valid_from date, input_micros bigint, output_micros bigint, cached_micros bigint)
language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  values
    ('claude-opus-4', 'USD', date '2025-05-22', 15000000::bigint, 75000000::bigint, 1500000::bigint),
    ('claude-opus-4-5', 'USD', date '2025-11-24', 5000000, 25000000, 500000),
    ('claude-opus-4-6', 'USD', date '2026-02-05', 5000000, 25000000, 500000),
    ('claude-sonnet-4', 'USD', date '2025-05-22', 3000000, 15000000, 300000),
    ('claude-haiku-4-5', 'USD', date '2025-10-15', 1000000, 5000000, 100000),
    ('gpt-5', 'USD', date '2025-08-07', 1250000, 10000000, 125000),
    ('gpt-5-mini', 'USD', date '2025-08-07', 250000, 2000000, 25000),
    ('gpt-5-nano', 'USD', date '2025-08-07', 50000, 400000, 5000),
    ('gemini-2.5-pro', 'USD', date '2025-06-17', 1250000, 10000000, 125000),
    ('gemini-2.5-flash', 'USD', date '2025-06-17', 300000, 2500000, 30000),
    ('gemini-2.5-flash-lite', 'USD', date '2025-07-22', 100000, 400000, 10000)
$$;

-- Returns the first day of the period that a moment belongs to, in UTC.
create or replace function app.period_start(period text, moment timestamptz) returns date
language sql immutable set search_path = pg_catalog, public, pg_temp as $$
  select case period
    when 'day' then (moment at time zone 'UTC')::date
    when 'month' then date_trunc('month', moment at time zone 'UTC')::date
    else date '2000-01-01' end
$$;
