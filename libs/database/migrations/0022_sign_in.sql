-- People sign in: accounts, which are of no organization, their sessions, and by what they prove who they are. They stand in a
-- schema of their own, whose rows have no organization, and which the role of the services does not reach: what an
-- organization's calls need of them, functions of the door say (functions/sign-in.sql).
--   muster_sign_in  what the app sign-in runs as: it has this schema, and reads no organization's content.
do $$ begin
  if not exists (select from pg_roles where rolname = 'muster_sign_in') then
    create role muster_sign_in nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another database of this server was faster
end $$;
grant muster_sign_in to current_user;
create schema sign_in;
grant usage on schema sign_in to muster_sign_in, muster_door;
grant usage on schema app to muster_sign_in;
grant select on app.applied_migrations, app.function_files to muster_sign_in;

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

-- Whose membership it is; null until its person signed in.
alter table members add column account_id uuid;
-- The membership of an account in an organization, of which there is one.
create unique index members_account on members (org_id, account_id) where status = 'active';
-- In which organizations is an account?
create index members_of_account on members (account_id) where status = 'active' and account_id is not null;

-- contract of 0017_tokens: a token is of a kind: `api` is carried by a program, `session` is a session in one of its
-- organizations, `oauth` was granted to a client.
alter table tokens drop constraint tokens_kind_check;
alter table tokens add constraint tokens_kind_check check (kind in ('api', 'session', 'oauth'));
alter table tokens add column session_id uuid;
alter table tokens add column client_id text;
alter table tokens add column grant_id text;
-- What it is for, as RFC 8707 names it.
alter table tokens add column resource text;
alter table tokens add check ((kind = 'session') = (session_id is not null));
alter table tokens add check ((kind = 'oauth') = (grant_id is not null));
-- Which tokens end with a session, and which with a grant?
create index tokens_of_session on tokens (session_id) where session_id is not null;
create index tokens_of_grant on tokens (org_id, grant_id) where grant_id is not null;

-- Of no session is its person told that it ends.
call app.open_table('tokens', 'muster_worker', 'select (kind)');

-- The door lets sessions in, and gives their organizations a token of theirs.
call app.open_table('members', 'muster_door', 'update (account_id)');
call app.open_table('tokens', 'muster_door',
  'insert (org_id, id, member_id, agent_id, name, kind, hash, prefix, last_four, scopes, project_ids, may_read_inbox, expires_at, session_id, client_id, grant_id, resource), update (hash, expires_at, revoked_at)');
-- Who signs in may begin an organization.
call app.open_table('orgs', 'muster_door', 'insert (id, slug, name)');
call app.open_table('streams', 'muster_door', 'insert (org_id)');
call app.open_table('subscriptions', 'muster_door', 'insert (org_id, plan, seats, status)');
call app.open_table('members', 'muster_door', 'insert (org_id, id, email, name, handle, role, status, account_id)');
call app.open_table('rights_epochs', 'muster_door', 'insert (org_id)');

-- Issuers of OpenID Connect by which an organization's people sign in.
create table identity_providers (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 120),
  issuer text not null check (length(issuer) between 1 and 2048),
  client_id text not null check (length(client_id) between 1 and 255),
  -- Sealed; null for a public client.
  secret bytea,
  created_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id)
);
create unique index identity_providers_client on identity_providers (org_id, issuer, client_id);
call app.guard_table('identity_providers');
call app.open_table('identity_providers', 'muster_door', 'select (org_id, id, name, issuer, client_id, secret)');

-- The domains whose addresses an issuer speaks for: only once it is proven that they are the organization's.
create table identity_provider_domains (
  org_id uuid not null,
  provider_id uuid not null,
  domain text not null check (length(domain) between 3 and 253 and domain = lower(domain)),
  -- What is to stand in the domain's TXT record.
  proof text not null,
  proven_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, provider_id, domain),
  foreign key (org_id, provider_id) references identity_providers (org_id, id) on delete cascade
);
-- Who speaks for this domain?
create index identity_provider_domains_proven on identity_provider_domains (domain) where proven_at is not null;
call app.guard_table('identity_provider_domains');
call app.open_table('identity_provider_domains', 'muster_door', 'select');
