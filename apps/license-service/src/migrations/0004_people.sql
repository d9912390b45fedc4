-- Who works in support: people, who sign in at the operators' issuer, or holders of a token, where there is none.

-- What a person may: for one product each, by what the issuer says of them.
create table licenses.operator_grants (
  id uuid primary key,
  -- A claim and a value that it has to have. An address is the claim `email`, in small letters.
  claim text not null check (char_length(claim) between 1 and 128),
  value text not null check (char_length(value) between 1 and 320),
  product text not null references licenses.products,
  scopes text[] not null check ('read' = any (scopes) and scopes <@ array['read', 'change']),
  -- Of an address: who came by it first. Another person who has the address later has not the grant.
  issuer text,
  subject text check ((issuer is null) = (subject is null)),
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
-- One counts at a time: another takes its place.
create unique index operator_grants_one on licenses.operator_grants (claim, value, product) where revoked_at is null;

create table licenses.operator_sessions (
  id uuid primary key,
  -- SHA-256; the secret itself is in the browser alone.
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  -- Of a token, or of a person at an issuer.
  token_id uuid references licenses.operator_tokens,
  issuer text check ((token_id is null) = (issuer is not null)),
  subject text check ((issuer is null) = (subject is null)),
  -- As the trail names who it is.
  name text not null check (char_length(name) between 1 and 320),
  -- What the issuer said, of what grants ask for: `groups=support`.
  claims text[] not null default '{}',
  ip text,
  user_agent text check (char_length(user_agent) <= 512),
  created_at timestamptz(3) not null default clock_timestamp(),
  last_seen_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
-- Which are of so long ago that they can go?
create index operator_sessions_age on licenses.operator_sessions (expires_at);

-- What a browser is in the middle of, under the hash of what its cookie has: good once.
create table licenses.operator_flows (
  hash bytea primary key check (octet_length(hash) = 32),
  payload jsonb not null,
  expires_at timestamptz(3) not null
);
create index operator_flows_age on licenses.operator_flows (expires_at);

grant select on licenses.operator_grants to muster_license_operators;
grant update (issuer, subject, last_used_at) on licenses.operator_grants to muster_license_operators;
grant select, insert, update, delete on licenses.operator_sessions, licenses.operator_flows to muster_license_operators;
