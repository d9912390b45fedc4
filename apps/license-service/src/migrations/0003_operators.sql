-- The role of the operators' API. It runs in the process of the service, but calls of machines use another role.
do $$
begin
  if not exists (select from pg_roles where rolname = 'muster_license_operators') then
    create role muster_license_operators nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end $$;
grant muster_license_operators to current_user;
-- A login of the service may switch to this role. muster_licenses does not inherit its rights.
do $$
begin
  if current_setting('server_version_num')::int >= 160000 then
    execute 'grant muster_license_operators to muster_licenses with inherit false';
  else
    alter role muster_licenses noinherit;
    grant muster_license_operators to muster_licenses;
  end if;
end $$;
grant usage on schema licenses to muster_license_operators;

-- The tokens of the operators' API. Each is for one product and has scopes.
create table licenses.operator_tokens (
  id uuid primary key,
  product text not null references licenses.products,
  name text not null check (char_length(name) between 1 and 64),
  -- The SHA-256 of the token. The token itself is not stored.
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  scopes text[] not null check (scopes <@ array['read', 'issue', 'change', 'webhooks'] and cardinality(scopes) > 0),
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);

-- The token or person that acted, from a setting of the transaction.
alter table licenses.license_events add column actor_ref text default nullif(current_setting('licenses.actor', true), '');
alter table licenses.license_events drop constraint license_events_actor_check;
alter table licenses.license_events add constraint license_events_actor_check
  check (actor in ('machine', 'operator', 'customer', 'service'));
alter table licenses.license_events drop constraint license_events_kind_check;
alter table licenses.license_events add constraint license_events_kind_check
  check (kind in ('issued', 'imported', 'activated', 'released', 'transferred', 'suspended', 'resumed', 'revoked',
    'renewed', 'rotated', 'certified', 'entitled', 'resized', 'expiring', 'expired'));

-- The last recorded event about the end: 1 for expiring, 2 for expired, 0 for none.
alter table licenses.licenses add column expiry_told smallint not null default 0;
-- Finds licenses that expire soon or have expired and lack an event.
create index licenses_ending on licenses.licenses (expires_at) where expiry_told < 2 and status = 'active';
-- Finds licenses by the last symbols of the key.
create index licenses_hint on licenses.licenses (product, key_hint);
-- Licenses that expired before this migration get no event.
update licenses.licenses set expiry_told = 2 where expires_at <= clock_timestamp();

-- Resets the recorded events when the end of a license changes.
create function licenses.tell_of_end_anew() returns trigger
language plpgsql set search_path = pg_catalog as $$
begin
  new.expiry_told := 0;
  return new;
end $$;
create trigger end_moved before update of expires_at on licenses.licenses
  for each row when (old.expires_at is distinct from new.expires_at) execute function licenses.tell_of_end_anew();

create table licenses.webhook_endpoints (
  id uuid primary key,
  product text not null references licenses.products,
  url text not null check (char_length(url) <= 2048),
  -- The subscribed event kinds; null for all.
  kinds text[],
  -- The signing secret, and the previous one during a rotation, encrypted like signing keys.
  sealed_secret bytea not null,
  sealed_secret_before bytea,
  is_active boolean not null default true,
  created_at timestamptz(3) not null default clock_timestamp()
);
-- Finds the endpoints of a product.
create index webhook_endpoints_product on licenses.webhook_endpoints (product);

-- The deliveries to endpoints. A trigger writes them in the transaction of the event, so they commit or roll back together.
create table licenses.webhook_deliveries (
  id uuid primary key,
  endpoint_id uuid not null references licenses.webhook_endpoints on delete cascade,
  -- There is no foreign key, because events are never deleted.
  event_id uuid not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'given_up')),
  tries int not null default 0,
  -- The time of the next attempt. A running attempt moves it forward, so that no other process sends the delivery.
  next_at timestamptz(3) not null default clock_timestamp(),
  last_status int,
  last_error text,
  created_at timestamptz(3) not null default clock_timestamp(),
  settled_at timestamptz(3)
);
-- Finds due deliveries of an endpoint.
create index webhook_deliveries_due on licenses.webhook_deliveries (endpoint_id, next_at) where state = 'waiting';
-- Lists the latest deliveries of an endpoint.
create index webhook_deliveries_endpoint on licenses.webhook_deliveries (endpoint_id, created_at);
-- Finds old settled deliveries to delete.
create index webhook_deliveries_age on licenses.webhook_deliveries (settled_at) where settled_at is not null;

-- Adds deliveries for a new event. It runs as the owner, because roles that write events may not read endpoints.
create function licenses.queue_webhooks() returns trigger
language plpgsql security definer set search_path = pg_catalog as $$
begin
  insert into licenses.webhook_deliveries (id, endpoint_id, event_id)
  select gen_random_uuid(), e.id, new.id
  from licenses.licenses l join licenses.webhook_endpoints e on e.product = l.product
  where l.id = new.license_id and e.is_active and (e.kinds is null or new.kind = any (e.kinds));
  return null;
end $$;
create trigger queue_webhooks after insert on licenses.license_events
  for each row execute function licenses.queue_webhooks();

grant select on licenses.products, licenses.plans, licenses.licenses, licenses.license_machines, licenses.held_machines,
  licenses.license_events, licenses.license_denials, licenses.operator_tokens to muster_license_operators;
grant insert on licenses.licenses, licenses.license_events to muster_license_operators;
grant update (status, reason, key_hash, key_hint, duration_seconds, expires_at, machine_limit, epoch, transfers, features,
  offline_until, expiry_told, updated_at) on licenses.licenses to muster_license_operators;
grant update (last_used_at) on licenses.operator_tokens to muster_license_operators;
grant select, insert, update, delete on licenses.license_machines, licenses.webhook_endpoints,
  licenses.webhook_deliveries to muster_license_operators;
