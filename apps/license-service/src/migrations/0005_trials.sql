-- Trials: a program may run for some days without a key, once per machine.

alter table licenses.products
  -- The duration of a trial; null if the product has none.
  add column trial_seconds bigint check (trial_seconds > 0),
  -- The features of a trial. A change also applies to running trials.
  add column trial_features jsonb not null default '{}'
    check (jsonb_typeof(trial_features) = 'object' and octet_length(trial_features::text) <= 2048);

create table licenses.trials (
  id uuid primary key,
  product text not null references licenses.products,
  -- The HMAC-SHA256 of the machine ID and the ID of its pepper, as in license_machines.
  machine_hash bytea not null check (octet_length(machine_hash) = 32),
  pepper_id text not null,
  started_at timestamptz(3) not null,
  -- The end never changes, so an ended trial cannot restart.
  ends_at timestamptz(3) not null check (ends_at > started_at),
  -- The time and the license of the first activation on the machine.
  converted_at timestamptz(3),
  license_id uuid references licenses.licenses,
  check ((converted_at is null) = (license_id is null)),
  -- Each machine has one trial, also under concurrent calls.
  unique (product, machine_hash)
);

-- Answers the trial of a machine and starts one if there is none; no row if the product has no trials. The function is
-- volatile, so that it reads a trial that a concurrent call has just created.
create function licenses.trial_of(trial uuid, of_product text, hash bytea, hash_before bytea, pepper text)
returns table (id uuid, is_new boolean, features jsonb, now timestamptz, started_at timestamptz, ends_at timestamptz,
  converted_at timestamptz)
language plpgsql volatile set search_path = pg_catalog as $$
declare
  terms licenses.products;
  own licenses.trials;
begin
  now := clock_timestamp()::timestamptz(3);
  select * into terms from licenses.products p where p.name = of_product;
  select * into own from licenses.trials t
    where t.product = of_product and t.machine_hash in (hash, hash_before) order by t.started_at limit 1;
  is_new := false;
  if own.id is null then
    if terms.trial_seconds is null then return; end if;
    insert into licenses.trials as t (id, product, machine_hash, pepper_id, started_at, ends_at)
      values (trial, of_product, hash, pepper, now, now + make_interval(secs => terms.trial_seconds))
      on conflict (product, machine_hash) do nothing returning t.* into own;
    is_new := own.id is not null;
    -- Another call was faster, and has committed by now.
    if not is_new then
      select * into own from licenses.trials t where t.product = of_product and t.machine_hash = hash;
    end if;
  elsif own.pepper_id <> pepper then
    -- Known by the pepper before; by that of now from here on.
    update licenses.trials t set machine_hash = hash, pepper_id = pepper where t.id = own.id
      and not exists (select from licenses.trials o where o.product = of_product and o.machine_hash = hash);
  end if;
  id := own.id;
  features := terms.trial_features;
  started_at := own.started_at;
  ends_at := own.ends_at;
  converted_at := own.converted_at;
  return next;
end $$;

grant select, insert on licenses.trials to muster_licenses;
-- The service may not change the start or end of a trial.
grant update (machine_hash, pepper_id, converted_at, license_id) on licenses.trials to muster_licenses;
grant select on licenses.trials to muster_license_operators;

-- Operators answer requests of offline machines, which runs the statement of activations.
grant update (activated_at, last_seen_at) on licenses.licenses to muster_license_operators;
grant insert, update on licenses.license_denials to muster_license_operators;
grant update (converted_at, license_id) on licenses.trials to muster_license_operators;
