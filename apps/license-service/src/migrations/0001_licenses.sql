-- The role of the service. It owns nothing and has only the rights that activations, checks and releases need.
-- Roles belong to the server and not to the database, so the role may already exist.
do $$
begin
  if not exists (select from pg_roles where rolname = 'muster_licenses') then
    create role muster_licenses nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end $$;
-- The migrating login may also run the service.
grant muster_licenses to current_user;
grant usage on schema licenses to muster_licenses;

-- Plans: the terms that licenses get when they are issued. Issued licenses keep their terms.
create table licenses.plans (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  -- The duration of a license from its first activation.
  duration_seconds bigint check (duration_seconds > 0),
  -- A plan that has no duration and is not perpetual has no default term. Each issue must state one.
  perpetual boolean not null default false check (not perpetual or duration_seconds is null),
  -- The number of times that customers may move a license to another machine themselves.
  transfer_limit int not null check (transfer_limit between 0 and 1000),
  -- The number of machines that may hold one license at the same time.
  machine_limit int not null default 1 check (machine_limit between 1 and 1000),
  -- The duration of a slot lease; null if a machine keeps its slot until it releases it.
  lease_seconds int check (lease_seconds > 0),
  -- The features, such as {"export": true, "seats": 5}. A change also applies to issued licenses.
  features jsonb not null default '{}' check (jsonb_typeof(features) = 'object' and octet_length(features::text) <= 2048),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp()
);

create table licenses.licenses (
  id uuid primary key,
  -- The SHA-256 of the canonical key. The key itself is not stored.
  key_hash bytea not null check (octet_length(key_hash) = 32),
  key_hint text not null check (char_length(key_hint) = 4),
  plan text not null,
  status text not null default 'active' check (status in ('active', 'suspended', 'revoked')),
  reason text check (char_length(reason) <= 512),
  -- The duration from the first activation, which sets expires_at.
  duration_seconds bigint check (duration_seconds > 0),
  expires_at timestamptz(3),
  -- The number of machines that may hold the license at the same time. license_machines has the machines.
  machine_limit int not null default 1 check (machine_limit between 1 and 1000),
  -- The duration of a slot lease; null if a machine keeps its slot until it releases it.
  lease_seconds int check (lease_seconds > 0),
  -- The number of releases and transfers.
  epoch int not null default 0,
  activated_at timestamptz(3),
  -- The last call of any of its machines.
  last_seen_at timestamptz(3),
  -- The end of the last certificate of any of its machines.
  offline_until timestamptz(3),
  transfers int not null default 0,
  transfer_limit int not null,
  -- The license's own features, which override those of the plan.
  features jsonb not null default '{}' check (jsonb_typeof(features) = 'object' and octet_length(features::text) <= 2048),
  -- The seller's references to the customer and the order. The service does not interpret them.
  customer_ref text check (char_length(customer_ref) between 1 and 128),
  order_ref text check (char_length(order_ref) between 1 and 128),
  order_line int not null default 1,
  issued_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp()
);
-- Finds the license of a key.
create unique index licenses_key on licenses.licenses (key_hash);
-- Finds the licenses of an order.
create unique index licenses_order on licenses.licenses (order_ref, order_line) where order_ref is not null;
-- Lists the licenses of a customer.
create index licenses_customer on licenses.licenses (customer_ref, id) where customer_ref is not null;

-- The machines of a license, each in its own slot. The row of a machine that released its slot, or whose lease expired,
-- stays until another machine takes the slot. So a repeated release gets the same answer as the first one.
create table licenses.license_machines (
  license_id uuid not null references licenses.licenses,
  -- The number of the slot, from 1.
  slot int not null check (slot > 0),
  -- The HMAC-SHA256 of the machine ID, and the ID of its pepper.
  machine_hash bytea not null check (octet_length(machine_hash) = 32),
  pepper_id text not null,
  machine_hint text not null check (char_length(machine_hint) <= 8),
  bound_at timestamptz(3) not null,
  last_seen_at timestamptz(3),
  -- The end of the last certificate of this machine.
  offline_until timestamptz(3),
  released_at timestamptz(3),
  -- The key keeps two machines from having one slot, even without the lock on the license.
  primary key (license_id, slot),
  unique (license_id, machine_hash)
);
-- Counts the machines per pepper.
create index license_machines_pepper on licenses.license_machines (pepper_id) where released_at is null;

-- The machines that hold a slot now. All statements use this view. A leased slot is held until the certificate of the
-- machine expires.
create view licenses.held_machines as
  select m.* from licenses.license_machines m join licenses.licenses l on l.id = m.license_id
  where m.released_at is null and (l.lease_seconds is null or m.offline_until > clock_timestamp());

-- Reads the slots of a license for the machine with either hash. The calling statement may have waited for the lock on the
-- license. The function is volatile, so it reads rows committed during the wait, which the statement itself would not see.
create function licenses.slots_of(license uuid, slots int, hash bytea, hash_before bytea,
  out now timestamptz, out used int, out own_slot int, out free_slot int,
  -- True if the machine had a slot but no longer holds it.
  out had_slot boolean, out own_hint text, out own_offline_until timestamptz)
language plpgsql volatile set search_path = pg_catalog as $$
declare
  own licenses.license_machines;
begin
  -- In whole milliseconds, as it is kept: an answer and the next must say the same end.
  now := clock_timestamp()::timestamptz(3);
  select * into own from licenses.license_machines m
    where m.license_id = license and m.machine_hash in (hash, hash_before)
    order by m.released_at desc nulls first limit 1;
  own_hint := own.machine_hint;
  own_offline_until := own.offline_until;
  select h.slot into own_slot from licenses.held_machines h where h.license_id = license and h.slot = own.slot;
  had_slot := own.slot is not null and own_slot is null;
  select count(*) into used from licenses.held_machines h where h.license_id = license;
  if own_slot is null and used < slots then
    -- Its own of before, else one that no machine ever had, so that releases can be repeated for as long as possible.
    select n into free_slot from generate_series(1, slots) n
      left join licenses.license_machines m on m.license_id = license and m.slot = n
      left join licenses.held_machines h on h.license_id = license and h.slot = n
      where h.slot is null
      order by coalesce(m.slot = own.slot, false) desc, (m.slot is null) desc, n limit 1;
  end if;
end $$;

-- Puts the machine into a slot, or updates the slot that it holds. The caller holds the lock on the license.
create function licenses.hold_slot(license uuid, place int, is_new boolean, hash bytea, hash_before bytea, pepper text,
  hint text, at timestamptz, certified_until timestamptz) returns int
language plpgsql volatile set search_path = pg_catalog as $$
begin
  if is_new then
    -- Never a row that holds: the one that came first without the lock would lose its slot to the one that came last.
    delete from licenses.license_machines m
      where m.license_id = license and (m.slot = place or m.machine_hash in (hash, hash_before))
        and not exists (select from licenses.held_machines h where h.license_id = license and h.slot = m.slot);
    insert into licenses.license_machines (license_id, slot, machine_hash, pepper_id, machine_hint, bound_at,
      last_seen_at, offline_until)
      values (license, place, hash, pepper, hint, at, at, certified_until);
  else
    update licenses.license_machines m set machine_hash = hash, pepper_id = pepper, machine_hint = hint,
      last_seen_at = at, offline_until = greatest(m.offline_until, certified_until)
      where m.license_id = license and m.slot = place;
  end if;
  return place;
end $$;

-- Releases a slot. The caller holds the lock on the license.
create function licenses.free_slot(license uuid, place int, at timestamptz) returns int
language plpgsql volatile set search_path = pg_catalog as $$
begin
  update licenses.license_machines m set released_at = at where m.license_id = license and m.slot = place;
  return place;
end $$;

create table licenses.license_events (
  id uuid primary key,
  license_id uuid not null references licenses.licenses,
  kind text not null check (kind in ('issued', 'imported', 'activated', 'released', 'transferred', 'suspended',
    'resumed', 'revoked', 'renewed', 'rotated', 'certified', 'entitled', 'resized')),
  -- The actor: a machine of the customer or an operator.
  actor text not null check (actor in ('machine', 'operator')),
  epoch int not null,
  data jsonb not null default '{}',
  at timestamptz(3) not null default clock_timestamp()
);
-- Lists the events of a license.
create index license_events_license on licenses.license_events (license_id, id);

-- Counts refusals per day and outcome, so that repeated failures add no rows.
create table licenses.license_denials (
  license_id uuid not null references licenses.licenses,
  day date not null,
  outcome text not null,
  count bigint not null,
  last_at timestamptz(3) not null,
  primary key (license_id, day, outcome)
);
-- Finds old rows to delete.
create index license_denials_age on licenses.license_denials (day);

create table licenses.signing_keys (
  kid text primary key,
  -- The 32 bytes of the Ed25519 public key.
  public_key bytea not null check (octet_length(public_key) = 32),
  -- The private key, encrypted with a secret of the environment (see docs/decisions/licenses.md).
  sealed_key bytea not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- The time from which the key signs. It is published from its creation.
  active_from timestamptz(3) not null,
  retired_at timestamptz(3),
  -- The key stays published until this time, so that its signatures can be verified.
  published_until timestamptz(3)
);

-- Secrets that are used if the environment has none.
create table licenses.secrets (
  name text primary key,
  value bytea not null
);

-- Keeps events append-only, for every role.
create function licenses.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  raise exception 'license_events is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on licenses.license_events
  for each statement execute function licenses.refuse_change();

grant select, insert on licenses.license_events to muster_licenses;
grant select, insert, update on licenses.license_denials to muster_licenses;
grant select on licenses.licenses, licenses.plans, licenses.signing_keys, licenses.secrets to muster_licenses;
-- Only the columns that activations and releases change, so not the key or the plan.
grant update (expires_at, epoch, activated_at, last_seen_at, offline_until, transfers, updated_at)
  on licenses.licenses to muster_licenses;
grant select, insert, update, delete on licenses.license_machines to muster_licenses;
grant select on licenses.held_machines to muster_licenses;
grant select on licenses.applied_migrations to muster_licenses;
