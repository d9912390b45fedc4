-- Organizations, who is in them, and by what they come in.

create table orgs (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9-]{3,40}$'),
  name text not null check (length(name) between 1 and 120),
  description text not null default '',
  -- What the organization set of its policy; what is absent has the contract's default.
  policy jsonb not null default '{}',
  policy_version int not null default 1,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  deleted_at timestamptz(3)
);
-- Which organizations were deleted, and when can they go?
create index orgs_deleted on orgs (deleted_at) where deleted_at is not null;
alter table orgs enable row level security, force row level security;
create policy own_organization on orgs to muster_app using (id = app.org_id());
-- Organizations come and go by the operators' hand alone.
grant select, update on orgs to muster_app;
call app.open_table('orgs', 'muster_door', 'select');
-- Who signs in may begin an organization.
call app.open_table('orgs', 'muster_door', 'insert (id, slug, name)');
call app.open_table('orgs', 'muster_operator', 'select, insert, update');
call app.open_table('orgs', 'muster_platform', 'select (id, slug, name, created_at, deleted_at)');
call app.open_table('orgs', 'muster_worker', 'select (id, policy, deleted_at), delete');

create table subscriptions (
  org_id uuid primary key references orgs (id) on delete cascade,
  plan text not null check (plan in ('free', 'team', 'enterprise')),
  status text not null default 'active' check (status in ('trialing', 'active', 'past_due', 'canceled')),
  seats int not null check (seats >= 1),
  -- The month that is paid for. Past its end it is rolled forward when it is read, and written with the next change.
  current_period_start timestamptz(3) not null default (date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'),
  current_period_end timestamptz(3) not null
    default ((date_trunc('day', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC'),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  check (current_period_end > current_period_start)
);
call app.guard_table('subscriptions');
call app.open_table('subscriptions', 'muster_door', 'insert (org_id, plan, seats, status)');
call app.open_table('subscriptions', 'muster_worker', 'select (plan)');
call app.open_table('subscriptions', 'muster_operator', 'select, insert, update');
call app.open_table('subscriptions', 'muster_platform',
  'select (org_id, plan, status, seats, current_period_end, created_at, updated_at, version)');

-- Each change of the seats that were bought, with what it cost: added to and never rewritten.
create table seat_ledger (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  -- The subscription's version from this change on.
  version int not null,
  at timestamptz(3) not null,
  actor jsonb not null,
  from_seats int not null check (from_seats >= 1),
  to_seats int not null check (to_seats >= 1),
  -- Whole minor units of the currency; below zero is a credit. The lines add up to it.
  amount bigint not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  lines jsonb not null,
  period_start timestamptz(3) not null,
  period_end timestamptz(3) not null,
  primary key (org_id, id),
  -- What was changed, in order? Each change follows from the one before it.
  unique (org_id, version),
  check (from_seats <> to_seats)
);
call app.guard_table('seat_ledger', 'select, insert');

create table members (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  email text not null check (length(email) between 3 and 320),
  name text not null check (length(name) between 1 and 120),
  handle text not null check (handle ~ '^[a-z0-9][a-z0-9-]{0,38}$'),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  status text not null default 'active' check (status in ('active', 'removed')),
  -- Whose membership it is; null until its person signed in.
  account_id uuid,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id)
);
-- Is this address a member already?
create unique index members_email on members (org_id, lower(email)) where status = 'active';
-- Whom does @handle mean?
create unique index members_handle on members (org_id, handle);
-- Who is the owner? There is exactly one.
create unique index members_one_owner on members (org_id) where role = 'owner' and status = 'active';
-- The membership of an account in an organization, of which there is one.
create unique index members_account on members (org_id, account_id) where status = 'active';
-- In which organizations is an account?
create index members_of_account on members (account_id) where status = 'active' and account_id is not null;
-- The members by name, the active ones or those that were removed.
create index members_names on members (org_id, status, name, id);
-- Those of one role, by name.
create index members_role on members (org_id, status, role, name, id);
-- The people of a project that everybody sees, by name; only as many are read as a page shows.
create index members_by_name on members (org_id, name, id) where status = 'active';
-- Who leads every project by the role in the organization?
create index members_leading on members (org_id, id) where status = 'active' and role in ('owner', 'admin');
-- Whose address is this, in all organizations? Also the accounts in order.
create index members_accounts on members ((lower(email) collate "C")) where status = 'active';
call app.guard_table('members');
call app.open_table('members', 'muster_door',
  'select, insert (org_id, id, email, name, handle, role, status, account_id), update (account_id)');
call app.open_table('members', 'muster_operator', 'select, insert, update');
call app.open_table('members', 'muster_platform', 'select (org_id, id, email, name, role, status, created_at)');

-- An agent that acts for a member, and is told apart from the member in everything it does.
create table agents (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  name text not null check (length(name) between 1 and 120),
  -- How commands name an agent of one's own; one that is made without a slug is given one (functions/agents.sql). A name or a
  -- slug that was used once stays that agent's: history names it.
  slug text not null check (slug ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'),
  created_at timestamptz(3) not null default now(),
  -- It acts no more. Written once, and never taken back.
  retired_at timestamptz(3),
  primary key (org_id, id),
  unique (org_id, member_id, name),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
-- Which agents does a member have, and which of them is called so?
create unique index agents_slug on agents (org_id, member_id, slug);
-- The agents of a member, newest first.
create index agents_member on agents (org_id, member_id, id);
call app.guard_table('agents');
call app.open_table('agents', 'muster_door', 'select');
call app.open_table('agents', 'muster_operator', 'select, insert, update');

create table teams (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 120),
  description text not null default '',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id)
);
-- Is the name taken?
create unique index teams_name on teams (org_id, lower(name));
-- The teams of all organizations in order.
create index teams_everywhere on teams ((lower(name) collate "C"), id);
call app.guard_table('teams');
call app.open_table('teams', 'muster_platform', 'select (org_id, id, name, description, created_at)');

create table team_members (
  org_id uuid not null,
  team_id uuid not null,
  member_id uuid not null,
  role text not null check (role in ('lead', 'member')),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, team_id, member_id),
  foreign key (org_id, team_id) references teams (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
-- Which teams is a member in?
create index team_members_member on team_members (org_id, member_id);
-- A team in the order in which its members came.
create index team_members_added on team_members (org_id, team_id, created_at, member_id);
call app.guard_table('team_members');
call app.open_table('team_members', 'muster_door', 'select');
call app.open_table('team_members', 'muster_platform', 'select (org_id, team_id)');

create table tokens (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  agent_id uuid,
  -- `api` is carried by a program, `session` is a session in one of its organizations, `oauth` was granted to a client.
  kind text not null default 'api' check (kind in ('api', 'session', 'oauth')),
  name text not null check (length(name) between 1 and 120),
  hash bytea not null check (length(hash) = 32),
  -- The first characters of the secret, by which people know it again.
  prefix text check (length(prefix) <= 20),
  last_four text not null,
  scopes text[] not null check (scopes <@ array['read', 'write', 'admin', 'platform']),
  -- Null: every project the member may see; else only these.
  project_ids uuid[],
  -- Of an agent: its member let it read their notifications. A member's own token always may.
  may_read_inbox boolean not null default false,
  session_id uuid,
  client_id text,
  grant_id text,
  -- What it is for, as RFC 8707 names it.
  resource text,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  -- When its member was told that it ends soon.
  warned_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  primary key (org_id, id),
  -- A token is found before its organization is known.
  unique (hash),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  check (agent_id is null or expires_at <= created_at + interval '90 days'),
  check ((kind = 'session') = (session_id is not null)),
  check ((kind = 'oauth') = (grant_id is not null))
) with (autovacuum_vacuum_max_threshold = 50000); -- docs/decisions/scale.md, as wherever it is set
-- The tokens of a member, and those of an agent, newest first.
create index tokens_of_member on tokens (org_id, member_id, id);
create index tokens_of_agent on tokens (org_id, agent_id, id) where agent_id is not null;
-- How many tokens of a member are alive?
create index tokens_alive on tokens (org_id, member_id, coalesce(expires_at, 'infinity'::timestamptz)) where revoked_at is null;
-- Which end soon, and nothing was said of it?
create index tokens_unwarned on tokens (expires_at) where revoked_at is null and warned_at is null;
-- Which tokens end with a session, and which with a grant?
create index tokens_of_session on tokens (session_id) where session_id is not null;
create index tokens_of_grant on tokens (org_id, grant_id) where grant_id is not null;
call app.guard_table('tokens');
-- Of no session is its person told that it ends.
call app.open_table('tokens', 'muster_worker', 'select (kind, created_at, expires_at, warned_at, revoked_at)');
-- The door gives sessions and clients their tokens.
call app.open_table('tokens', 'muster_door',
  'select, insert (org_id, id, member_id, agent_id, name, kind, hash, prefix, last_four, scopes, project_ids, may_read_inbox, expires_at, session_id, client_id, grant_id, resource), update (hash, prefix, last_four, scopes, expires_at, revoked_at, last_used_at)');
call app.open_table('tokens', 'muster_operator', 'select, insert, update');
call app.open_table('tokens', 'muster_platform', 'select (org_id, member_id, hash, scopes, expires_at, revoked_at)');

-- What people granted to clients by OAuth: as which agent of theirs, in which projects, to do what, for how long. The tokens
-- that such a client gets are rows of tokens, whose grant_id is the connection.
create table connections (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  -- Never the person: a client acts as an agent of theirs.
  agent_id uuid not null,
  client_id text not null check (length(client_id) between 1 and 2048),
  -- As the client calls itself.
  client_name text not null check (length(client_name) between 1 and 120),
  -- The host that vouches for the client; null for one that registered itself.
  client_host text check (length(client_host) between 1 and 255),
  -- What its tokens are for, as RFC 8707 names it.
  resource text not null check (length(resource) between 1 and 2048),
  scopes text[] not null check (scopes <@ array['read', 'write', 'admin'] and cardinality(scopes) > 0),
  -- Null: every project that the member may see; else only these.
  project_ids uuid[],
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  primary key (org_id, id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  check (expires_at <= created_at + interval '90 days')
);
-- A grant is found before its organization is known.
create index connections_by_id on connections (id);
-- Those of a member, newest first, and how many of them are alive; those of an agent.
create index connections_of_member on connections (org_id, member_id, id);
create index connections_of_agent on connections (org_id, agent_id, id);
call app.guard_table('connections');
call app.open_table('connections', 'muster_worker', 'select (expires_at, revoked_at)');
call app.open_table('connections', 'muster_operator', 'select, update (revoked_at)');
-- The door gives the client its tokens, which it does not let outlive the connection.
call app.open_table('connections', 'muster_door',
  'select, insert (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, project_ids, expires_at), update (revoked_at)');

-- Somebody asked in. Its secret is in the e-mail alone; a new one is made each time that an e-mail goes out.
create table invitations (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  email text not null check (length(email) between 3 and 320),
  role text not null check (role in ('admin', 'member', 'viewer')),
  -- What the new member will be in, as far as it is there by then.
  team_ids uuid[] not null default '{}',
  project_ids uuid[] not null default '{}',
  -- Past expires_at a pending one is expired: that is read, never written.
  state text not null default 'pending' check (state in ('pending', 'accepted', 'revoked')),
  token_hash bytea check (length(token_hash) = 32),
  invited_by jsonb not null,
  expires_at timestamptz(3) not null,
  -- How often the e-mail was asked for, and when last.
  sends int not null default 1,
  sent_at timestamptz(3) not null default now(),
  member_id uuid,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  -- An invitation is found before its organization is known.
  unique (token_hash),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  check ((member_id is null) = (state <> 'accepted'))
);
-- Is this address invited? Also how many are pending, for the seats that they reserve.
create unique index invitations_pending on invitations (org_id, lower(email)) where state = 'pending';
-- How many e-mails went to this address lately?
create index invitations_address on invitations (org_id, lower(email), sent_at);
-- Who invites this address, in all organizations?
create index invitations_accounts on invitations ((lower(email) collate "C")) where state = 'pending';
call app.guard_table('invitations');
call app.open_table('invitations', 'muster_worker', 'select (state, expires_at, updated_at)');
call app.open_table('invitations', 'muster_door', 'select');
call app.open_table('invitations', 'muster_operator', 'select');

-- Where a member can be reached besides the inbox. It ends with the membership.
create table devices (
  org_id uuid not null,
  member_id uuid not null,
  -- The client's own name of it.
  device_id text not null check (length(device_id) between 1 and 128),
  id uuid not null,
  name text not null check (length(name) between 1 and 120),
  platform text not null check (platform in ('macos', 'windows', 'linux', 'ios', 'android', 'web')),
  -- A secret: whoever has it can send to the device.
  push_token text,
  app_version text,
  -- The token that registered it last. The device ends with it: nothing is sent there any more.
  token_id uuid not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- Also: which devices does a member have?
  primary key (org_id, member_id, device_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, token_id) references tokens (org_id, id) on delete cascade
);
-- Who has this push token? One device alone, or what is for one member shows on another's screen.
create unique index devices_push_token on devices (org_id, md5(push_token)) where push_token is not null;
call app.guard_table('devices');

-- Issuers of OpenID Connect by which an organization's people sign in.
create table identity_providers (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  name text not null check (length(name) between 1 and 120),
  issuer text not null check (length(issuer) between 1 and 2048),
  client_id text not null check (length(client_id) between 1 and 255),
  -- Sealed; null for a public client.
  secret bytea,
  -- Whether an address counts of which the issuer does not say that it was verified. It speaks for proven domains alone.
  trusts_addresses boolean not null default false,
  -- When a worker last asked the issuer what it offers, and what was wrong; null where nothing was.
  checked_at timestamptz(3),
  problem text check (length(problem) between 1 and 500),
  created_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id)
);
create unique index identity_providers_client on identity_providers (org_id, issuer, client_id);
call app.guard_table('identity_providers');
call app.open_table('identity_providers', 'muster_door', 'select (org_id, id, name, issuer, client_id, secret, trusts_addresses)');

-- The domains whose addresses an issuer speaks for: only once it is proven that they are the organization's.
create table identity_provider_domains (
  org_id uuid not null,
  provider_id uuid not null,
  domain text not null check (length(domain) between 3 and 253 and domain = lower(domain)),
  -- What is to stand in the domain's TXT record.
  proof text not null,
  proven_at timestamptz(3),
  -- Since when the record of a proven domain is not found, for a DNS may be moved or mended; null while it is.
  missing_since timestamptz(3),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, provider_id, domain),
  foreign key (org_id, provider_id) references identity_providers (org_id, id) on delete cascade
);
-- Who speaks for this domain?
create index identity_provider_domains_proven on identity_provider_domains (domain) where proven_at is not null;
call app.guard_table('identity_provider_domains');
call app.open_table('identity_provider_domains', 'muster_door', 'select');
-- A worker finds which providers to look at.
call app.open_table('identity_provider_domains', 'muster_worker', 'select (org_id, provider_id, proven_at)');
