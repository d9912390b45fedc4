-- What the service runs as: owns nothing, and may do no more to a license than its life asks for.
-- The role is the server's, not the database's, so it may exist.
do $$
begin
  if not exists (select from pg_roles where rolname = 'muster_licenses') then
    create role muster_licenses nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end $$;
-- Whoever migrates may run the service too.
grant muster_licenses to current_user;
grant usage on schema licenses to muster_licenses;

-- What is sold: the terms that a license of this plan gets when it is issued. Sold ones keep theirs.
create table licenses.plans (
  name text primary key check (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  -- Counted from the first activation.
  duration_seconds bigint check (duration_seconds > 0),
  -- A plan with neither has no term of its own: each issue says one.
  perpetual boolean not null default false check (not perpetual or duration_seconds is null),
  -- How often customers may move a license to another machine by themselves.
  transfer_limit int not null check (transfer_limit between 0 and 1000),
  -- How many machines may hold one of its licenses at once.
  machine_limit int not null default 1 check (machine_limit between 1 and 1000),
  -- For how long a slot is lent each time; null: until the machine gives it up.
  lease_seconds int check (lease_seconds > 0),
  -- What its licenses let people do: {"export": true, "seats": 5}. Sold ones have these as they are now.
  features jsonb not null default '{}' check (jsonb_typeof(features) = 'object' and octet_length(features::text) <= 2048),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp()
);

create table licenses.licenses (
  id uuid primary key,
  -- SHA-256 of the canonical key; the key itself is nowhere.
  key_hash bytea not null check (octet_length(key_hash) = 32),
  key_hint text not null check (char_length(key_hint) = 4),
  plan text not null,
  status text not null default 'active' check (status in ('active', 'suspended', 'revoked')),
  reason text check (char_length(reason) <= 512),
  -- Until the first activation of a license that counts from it there is no end, only how long it will last.
  duration_seconds bigint check (duration_seconds > 0),
  expires_at timestamptz(3),
  -- How many machines may hold it at once; which they are is in license_machines.
  machine_limit int not null default 1 check (machine_limit between 1 and 1000),
  -- For how long a slot is lent each time; null: until the machine gives it up.
  lease_seconds int check (lease_seconds > 0),
  -- One more for each machine that it was taken from.
  epoch int not null default 0,
  activated_at timestamptz(3),
  -- When any of its machines was last heard of.
  last_seen_at timestamptz(3),
  -- As long as any certificate that was given still lives.
  offline_until timestamptz(3),
  transfers int not null default 0,
  transfer_limit int not null,
  -- Its own, each in place of the plan's of that name.
  features jsonb not null default '{}' check (jsonb_typeof(features) = 'object' and octet_length(features::text) <= 2048),
  -- The seller's own words for whom and what, opaque here.
  customer_ref text check (char_length(customer_ref) between 1 and 128),
  order_ref text check (char_length(order_ref) between 1 and 128),
  order_line int not null default 1,
  issued_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp()
);
-- Which license is this key's?
create unique index licenses_key on licenses.licenses (key_hash);
-- Has this order been issued?
create unique index licenses_order on licenses.licenses (order_ref, order_line) where order_ref is not null;
-- What has this customer bought?
create index licenses_customer on licenses.licenses (customer_ref, id) where customer_ref is not null;

-- The machines of a license, each in a slot of its own. A machine that gave its slot up, or whose slot was lent and is not
-- any more, holds it no more; its row stays until the slot is taken, so that a repeated release is answered as the first one was.
create table licenses.license_machines (
  license_id uuid not null references licenses.licenses,
  -- From 1 on.
  slot int not null check (slot > 0),
  -- HMAC-SHA256 of the machine's id, and by which pepper.
  machine_hash bytea not null check (octet_length(machine_hash) = 32),
  pepper_id text not null,
  machine_hint text not null check (char_length(machine_hint) <= 8),
  bound_at timestamptz(3) not null,
  last_seen_at timestamptz(3),
  -- As long as any certificate that this machine was given still lives.
  offline_until timestamptz(3),
  released_at timestamptz(3),
  -- Even without the lock of the license no two machines could have one slot.
  primary key (license_id, slot),
  unique (license_id, machine_hash)
);
-- How many machines are known by this pepper?
create index license_machines_pepper on licenses.license_machines (pepper_id) where released_at is null;

-- The machines that hold their slot at this moment: the only statement of it. What is lent is held for as long as the
-- machine may run on a certificate, and no longer.
create view licenses.held_machines as
  select m.* from licenses.license_machines m join licenses.licenses l on l.id = m.license_id
  where m.released_at is null and (l.lease_seconds is null or m.offline_until > clock_timestamp());

-- The slots of a license, seen by the machine of either hash. Asked by a statement that has waited for the lock of the
-- license, so it is volatile: it reads what was committed meanwhile, which the statement itself would not.
create function licenses.slots_of(license uuid, slots int, hash bytea, hash_before bytea,
  out now timestamptz, out used int, out own_slot int, out free_slot int,
  -- Whether the machine had a slot, and has it no more.
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

-- Puts the machine into a slot, or notes that it goes on holding it. The caller has the lock of the license.
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

-- Takes the slot from its machine. The caller has the lock of the license.
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
  -- Who did it: the customer's machine, or an operator.
  actor text not null check (actor in ('machine', 'operator')),
  epoch int not null,
  data jsonb not null default '{}',
  at timestamptz(3) not null default clock_timestamp()
);
-- What happened to this license?
create index license_events_license on licenses.license_events (license_id, id);

-- Refusals, counted: whoever fails all day long adds no row.
create table licenses.license_denials (
  license_id uuid not null references licenses.licenses,
  day date not null,
  outcome text not null,
  count bigint not null,
  last_at timestamptz(3) not null,
  primary key (license_id, day, outcome)
);
-- Which are of so long ago that they can go?
create index license_denials_age on licenses.license_denials (day);

create table licenses.signing_keys (
  kid text primary key,
  -- The 32 bytes of the Ed25519 public key.
  public_key bytea not null check (octet_length(public_key) = 32),
  -- The private one, sealed with a secret of the environment (see docs/decisions/licenses.md).
  sealed_key bytea not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Published from the start, used from here on.
  active_from timestamptz(3) not null,
  retired_at timestamptz(3),
  -- What it signed may be checked until then.
  published_until timestamptz(3)
);

-- What stands in for secrets that the environment does not have.
create table licenses.secrets (
  name text primary key,
  value bytea not null
);

-- What was left behind stays, whoever asks.
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
-- What an activation and a release change, and no more: no key, no plan, no end of another's license.
grant update (expires_at, epoch, activated_at, last_seen_at, offline_until, transfers, updated_at)
  on licenses.licenses to muster_licenses;
grant select, insert, update, delete on licenses.license_machines to muster_licenses;
grant select on licenses.held_machines to muster_licenses;
grant select on licenses.applied_migrations to muster_licenses;
