-- People sign in: accounts, which are of no organization, their sessions, and by what they prove who they are. They stand in a
-- schema of their own, whose rows have no organization, and which the role of the services does not reach: what an
-- organization's calls need of them, functions of the door say (functions/sign-in.sql).
create schema sign_in;
grant usage on schema sign_in to muster_sign_in, muster_door;

-- A person, over all organizations. It comes to be when the address was proven, and never before.
create table sign_in.accounts (
  id uuid primary key,
  email text not null check (length(email) between 3 and 320),
  name text not null check (length(name) between 1 and 120),
  created_at timestamptz(3) not null default now()
);
-- Whose is this address?
create unique index accounts_email on sign_in.accounts (lower(email));

-- Who an account is at an issuer of OpenID Connect.
create table sign_in.identities (
  issuer text not null check (length(issuer) between 1 and 2048),
  subject text not null check (length(subject) between 1 and 255),
  account_id uuid not null references sign_in.accounts (id) on delete cascade,
  -- As the issuer said it last.
  email text check (length(email) between 3 and 320),
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  primary key (issuer, subject)
);
create index identities_account on sign_in.identities (account_id);

create table sign_in.passkeys (
  id uuid primary key,
  account_id uuid not null references sign_in.accounts (id) on delete cascade,
  credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
  public_key bytea not null,
  -- Of signatures; one that did not grow tells of a copy.
  counter bigint not null default 0,
  transports text[] not null default '{}',
  name text not null check (length(name) between 1 and 120),
  -- Whether its keeper copies it to other devices.
  is_synced boolean not null default false,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3)
);
create index passkeys_account on sign_in.passkeys (account_id, id);

-- A link that was asked for. Asked for an address that is not known it is a row all the same, and no mail goes out.
create table sign_in.sign_ins (
  id uuid primary key,
  -- Of the secret in the link, of the code, and of what the browser that asked keeps in a cookie.
  hash bytea not null unique check (length(hash) = 32),
  code_hash bytea not null check (length(code_hash) = 32),
  nonce_hash bytea not null check (length(nonce_hash) = 32),
  email text not null check (length(email) between 3 and 320),
  -- Wrong codes.
  misses int not null default 0,
  -- Where the person was going, a path of this origin.
  return_to text not null,
  ip text,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
-- How many were asked for lately for this address?
create index sign_ins_email on sign_in.sign_ins (lower(email), created_at);
create index sign_ins_old on sign_in.sign_ins (created_at);

-- What a browser is in the middle of, besides a link: the way to an issuer and back, the challenge of a passkey.
create table sign_in.flows (
  -- Of what the browser keeps in a cookie.
  hash bytea primary key check (length(hash) = 32),
  kind text not null,
  payload jsonb not null,
  expires_at timestamptz(3) not null
);
create index flows_old on sign_in.flows (expires_at);

create table sign_in.sessions (
  id uuid primary key,
  account_id uuid not null references sign_in.accounts (id) on delete cascade,
  -- Of the secret in the cookie; another one after each proof.
  hash bytea not null unique check (length(hash) = 32),
  -- By what the person proved who they are, so far: `link`, `passkey`, `provider:<id>`.
  proofs text[] not null,
  -- When last.
  proven_at timestamptz(3) not null default now(),
  user_agent text,
  ip text,
  created_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  -- It moves with use, and never past ends_at.
  expires_at timestamptz(3) not null,
  ends_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  check (expires_at <= ends_at)
);
create index sessions_account on sign_in.sessions (account_id, id);
create index sessions_old on sign_in.sessions (ends_at);

-- What the authorization server of OAuth keeps: all but access tokens, which are rows of tokens.
create table sign_in.oauth_records (
  model text not null,
  id_hash bytea not null check (length(id_hash) = 32),
  grant_id text,
  uid text,
  user_code text,
  payload jsonb not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  consumed_at timestamptz(3),
  primary key (model, id_hash)
);
create index oauth_records_grant on sign_in.oauth_records (grant_id) where grant_id is not null;
create index oauth_records_uid on sign_in.oauth_records (model, uid) where uid is not null;
create index oauth_records_user_code on sign_in.oauth_records (model, user_code) where user_code is not null;
create index oauth_records_old on sign_in.oauth_records (expires_at) where expires_at is not null;

grant select, insert, update, delete on all tables in schema sign_in to muster_sign_in;
-- What organizations' calls come to: sessions, and whose they are. No link, and no record of OAuth.
grant select on sign_in.accounts, sign_in.sessions to muster_door;
grant update (last_seen_at, expires_at, revoked_at) on sign_in.sessions to muster_door;
grant select (id, account_id, name, is_synced, transports, created_at, last_used_at), update (name), delete on sign_in.passkeys to muster_door;
