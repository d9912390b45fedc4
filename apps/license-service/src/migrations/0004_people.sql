-- Support staff: people who sign in with the operators' issuer or, without one, by a token.

-- Grants of scopes on one product, by claims of the issuer.
create table licenses.operator_grants (
  id uuid primary key,
  -- A claim and its required value. The claim `email` has a lower-case address.
  claim text not null check (char_length(claim) between 1 and 128),
  value text not null check (char_length(value) between 1 and 320),
  product text not null references licenses.products,
  scopes text[] not null check ('read' = any (scopes) and scopes <@ array['read', 'change']),
  -- The first person who signed in with the address of the grant. A later owner of the address does not get the grant.
  issuer text,
  subject text check ((issuer is null) = (subject is null)),
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
-- Only one grant per claim and product is valid. A new grant replaces the old one.
create unique index operator_grants_one on licenses.operator_grants (claim, value, product) where revoked_at is null;

create table licenses.operator_sessions (
  id uuid primary key,
  -- The SHA-256 of the secret. Only the browser has the secret itself.
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  -- The token of the session, or else the issuer and subject of a person.
  token_id uuid references licenses.operator_tokens,
  issuer text check ((token_id is null) = (issuer is not null)),
  subject text check ((issuer is null) = (subject is null)),
  -- The name of the actor in the trail.
  name text not null check (char_length(name) between 1 and 320),
  -- The claims of the person that grants require, such as `groups=support`.
  claims text[] not null default '{}',
  ip text,
  user_agent text check (char_length(user_agent) <= 512),
  created_at timestamptz(3) not null default clock_timestamp(),
  last_seen_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
-- Finds old sessions to delete.
create index operator_sessions_age on licenses.operator_sessions (expires_at);

-- Sign-ins in progress, by the hash of the nonce in the cookie. Each can be used once.
create table licenses.operator_flows (
  hash bytea primary key check (octet_length(hash) = 32),
  payload jsonb not null,
  expires_at timestamptz(3) not null
);
create index operator_flows_age on licenses.operator_flows (expires_at);

grant select on licenses.operator_grants to muster_license_operators;
grant update (issuer, subject, last_used_at) on licenses.operator_grants to muster_license_operators;
grant select, insert, update, delete on licenses.operator_sessions, licenses.operator_flows to muster_license_operators;
