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
