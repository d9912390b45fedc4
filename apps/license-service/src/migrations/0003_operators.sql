-- What operators' programs do over HTTP: in the service's own process, as a role that the paths of machines do not have.
do $$
begin
  if not exists (select from pg_roles where rolname = 'muster_license_operators') then
    create role muster_license_operators nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end $$;
grant muster_license_operators to current_user;
-- A login of the service may become it, and muster_licenses has none of its rights without becoming it.
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

-- Who may call it: for one product each, and no more than its scopes.
create table licenses.operator_tokens (
  id uuid primary key,
  product text not null references licenses.products,
  name text not null check (char_length(name) between 1 and 64),
  -- SHA-256; the token itself is nowhere.
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  scopes text[] not null check (scopes <@ array['read', 'issue', 'change', 'webhooks'] and cardinality(scopes) > 0),
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);

-- Which token, where it was one; a setting of the transaction says so.
alter table licenses.license_events add column actor_ref text default nullif(current_setting('licenses.actor', true), '');
alter table licenses.license_events drop constraint license_events_actor_check;
alter table licenses.license_events add constraint license_events_actor_check
  check (actor in ('machine', 'operator', 'customer', 'service'));
alter table licenses.license_events drop constraint license_events_kind_check;
alter table licenses.license_events add constraint license_events_kind_check
  check (kind in ('issued', 'imported', 'activated', 'released', 'transferred', 'suspended', 'resumed', 'revoked',
    'renewed', 'rotated', 'certified', 'entitled', 'resized', 'expiring', 'expired'));

-- Whether it was said that it ends soon (1), and that it ended (2).
alter table licenses.licenses add column expiry_told smallint not null default 0;
-- Which were to be told of?
create index licenses_ending on licenses.licenses (expires_at) where expiry_told < 2 and status = 'active';
-- Which keys end so?
create index licenses_hint on licenses.licenses (product, key_hint);
-- What ended before anything was told is not told of now.
update licenses.licenses set expiry_told = 2 where expires_at <= clock_timestamp();

-- Another end is told of anew.
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
  -- Null: of whatever happens.
  kinds text[],
  -- The secret that signs, and the one before while it is exchanged; sealed as signing keys are.
  sealed_secret bytea not null,
  sealed_secret_before bytea,
  is_active boolean not null default true,
  created_at timestamptz(3) not null default clock_timestamp()
);
-- What does this product tell, and to whom?
create index webhook_endpoints_product on licenses.webhook_endpoints (product);

-- What an endpoint is to hear of: written with the event, and so neither lost nor told of what was rolled back.
create table licenses.webhook_deliveries (
  id uuid primary key,
  endpoint_id uuid not null references licenses.webhook_endpoints on delete cascade,
  -- No foreign key: events stay for good.
  event_id uuid not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'given_up')),
  tries int not null default 0,
  -- Of what waits: when it is tried; a try under way moves it on, so that no other process tries it meanwhile.
  next_at timestamptz(3) not null default clock_timestamp(),
  last_status int,
  last_error text,
  created_at timestamptz(3) not null default clock_timestamp(),
  settled_at timestamptz(3)
);
-- What is due of this endpoint?
create index webhook_deliveries_due on licenses.webhook_deliveries (endpoint_id, next_at) where state = 'waiting';
-- What was tried of it last?
create index webhook_deliveries_endpoint on licenses.webhook_deliveries (endpoint_id, created_at);
-- Which were settled so long ago that they can go?
create index webhook_deliveries_age on licenses.webhook_deliveries (settled_at) where settled_at is not null;

-- As the owner, since who writes an event may not look at endpoints.
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
