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
  -- HMAC-SHA256 of the machine's id, and by which pepper.
  machine_hash bytea check (octet_length(machine_hash) = 32),
  machine_hint text check (char_length(machine_hint) <= 8),
  pepper_id text,
  -- Who released it last, so that a repeated release is answered as the first one was.
  released_machine_hash bytea,
  -- One more for each machine that it was taken from.
  epoch int not null default 0,
  activated_at timestamptz(3),
  bound_at timestamptz(3),
  last_seen_at timestamptz(3),
  -- As long as any certificate that was given still lives.
  offline_until timestamptz(3),
  transfers int not null default 0,
  transfer_limit int not null,
  -- The seller's own words for whom and what, opaque here.
  customer_ref text check (char_length(customer_ref) between 1 and 128),
  order_ref text check (char_length(order_ref) between 1 and 128),
  order_line int not null default 1,
  issued_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp(),
  check ((machine_hash is null) = (bound_at is null)),
  check ((machine_hash is null) = (pepper_id is null))
);
-- Which license is this key's?
create unique index licenses_key on licenses.licenses (key_hash);
-- Has this order been issued?
create unique index licenses_order on licenses.licenses (order_ref, order_line) where order_ref is not null;
-- What has this customer bought?
create index licenses_customer on licenses.licenses (customer_ref, id) where customer_ref is not null;
-- How many machines are known by this pepper?
create index licenses_pepper on licenses.licenses (pepper_id) where pepper_id is not null;

create table licenses.license_events (
  id uuid primary key,
  license_id uuid not null references licenses.licenses,
  kind text not null check (kind in ('issued', 'imported', 'activated', 'released', 'transferred', 'suspended',
    'resumed', 'revoked', 'renewed', 'rotated', 'certified')),
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
grant update (expires_at, machine_hash, machine_hint, pepper_id, released_machine_hash, epoch, activated_at, bound_at,
  last_seen_at, offline_until, transfers, updated_at) on licenses.licenses to muster_licenses;
grant select on licenses.kysely_migration to muster_licenses;
