-- Organizations, who is in them, and what they come in by.

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
call app.open_table('subscriptions', 'muster_worker', 'select (plan)');
call app.open_table('subscriptions', 'muster_operator', 'select, insert, update');
call app.open_table('subscriptions', 'muster_platform',
  'select (org_id, plan, status, seats, current_period_end, created_at, updated_at, version)');

create table members (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  email text not null check (length(email) between 3 and 320),
  name text not null check (length(name) between 1 and 120),
  handle text not null check (handle ~ '^[a-z0-9][a-z0-9-]{0,38}$'),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  status text not null default 'active' check (status in ('active', 'removed')),
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
-- The members by name, the active ones or those that were removed.
create index members_names on members (org_id, status, name, id);
-- The people of a project that everybody sees, by name; only as many are read as a page shows.
create index members_by_name on members (org_id, name, id) where status = 'active';
-- Who leads every project by the role in the organization?
create index members_leading on members (org_id, id) where status = 'active' and role in ('owner', 'admin');
-- Whose address is this, in all organizations? Also the accounts in order.
create index members_accounts on members ((lower(email) collate "C")) where status = 'active';
call app.guard_table('members');
call app.open_table('members', 'muster_door', 'select');
call app.open_table('members', 'muster_operator', 'select, insert, update');
call app.open_table('members', 'muster_platform', 'select (org_id, id, email, name, role, status, created_at)');

-- An agent that acts for a member, and is told apart from the member in everything it does.
create table agents (
  org_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  name text not null check (length(name) between 1 and 120),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, member_id, name),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
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
  name text not null check (length(name) between 1 and 120),
  hash bytea not null check (length(hash) = 32),
  last_four text not null,
  scopes text[] not null check (scopes <@ array['read', 'write', 'admin', 'platform']),
  -- Null: every project the member may see; else only these.
  project_ids uuid[],
  -- Of an agent: its member let it read their notifications. A member's own token always may.
  may_read_inbox boolean not null default false,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  primary key (org_id, id),
  -- A token is found before its organization is known.
  unique (hash),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  check (agent_id is null or expires_at <= created_at + interval '90 days')
);
-- Which tokens does a member have?
create index tokens_member on tokens (org_id, member_id);
call app.guard_table('tokens');
call app.open_table('tokens', 'muster_worker', 'select (revoked_at, expires_at)');
call app.open_table('tokens', 'muster_door', 'select, update (last_used_at)');
call app.open_table('tokens', 'muster_operator', 'select, insert, update');
call app.open_table('tokens', 'muster_platform', 'select (org_id, member_id, hash, scopes, expires_at, revoked_at)');

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
