-- Forges: what is said of work by whom, the connections to them, which repositories count, what came in and goes out, and
-- which pull request is whose.

-- What a member, an agent or a forge said of the work of an execution.
create table forge_observations (
  org_id uuid not null,
  execution_id uuid not null,
  dedupe_key text not null,
  kind text not null,
  ref text,
  sha text,
  number int,
  url text,
  data jsonb,
  observed_at timestamptz(3) not null,
  -- A member's or an agent's token reports; only what a forge signed is verified.
  trust text not null default 'reported' check (trust in ('reported', 'verified')),
  recorded_by jsonb not null,
  recorded_at timestamptz(3) not null default now(),
  -- Was this fact recorded before?
  primary key (org_id, execution_id, dedupe_key),
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade
);
call app.guard_table('forge_observations', 'select, insert');

create table forge_connections (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  kind text not null check (kind in ('github', 'gitlab', 'gitea', 'forgejo')),
  name text not null,
  base_url text not null check (length(base_url) between 1 and 2048),
  -- What its deliveries are signed with, and what it is called with; both sealed.
  secret bytea not null,
  credentials bytea,
  credentials_kind text check (credentials_kind in ('token', 'app')),
  -- Of the GitHub App that it is called as: what it says itself of a head is no check of the work.
  app_id text,
  -- Where the GitHub App is that was made of a manifest: people install it from there.
  app_url text,
  created_by jsonb not null,
  last_delivery_at timestamptz(3),
  last_status_at timestamptz(3),
  -- {at, doing, message}; null: what was done last worked.
  last_error jsonb,
  -- The forge asked for patience: nothing is sent to it or asked of it before.
  quiet_until timestamptz(3),
  -- From here on it is none; its deliveries go on their day, and it goes with the last of them.
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  check ((credentials is null) = (credentials_kind is null))
);
-- Whose is the connection that an address names?
create index forge_connections_id on forge_connections (id);
create index forge_connections_deleted on forge_connections (deleted_at) where deleted_at is not null;
call app.guard_table('forge_connections');
call app.open_table('forge_connections', 'muster_door', 'select (org_id, id, kind, secret, deleted_at)');
call app.open_table('forge_connections', 'muster_worker', 'select (org_id, id, deleted_at, credentials_kind), delete');

create table forge_repositories (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  project_id uuid not null,
  -- The forge's own id; null until a delivery says it, where it was named by its URL.
  external_id text,
  -- In lower case, without .git and the slash at the end; null where it was named by its id, until a delivery says it.
  url text,
  full_name text,
  default_branch text,
  linked_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, connection_id) references forge_connections (org_id, id) on delete cascade,
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  check (external_id is not null or url is not null)
);
-- Is it linked? In which projects does a delivery count?
create unique index forge_repositories_external on forge_repositories (org_id, connection_id, external_id, project_id) where external_id is not null;
create unique index forge_repositories_url on forge_repositories (org_id, connection_id, url, project_id) where url is not null;
-- What does a project have?
create index forge_repositories_project on forge_repositories (org_id, project_id, id);
call app.guard_table('forge_repositories');
call app.open_table('forge_repositories', 'muster_worker', 'select (org_id, id, connection_id)');

create table forge_deliveries (
  org_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  -- The forge's own.
  delivery_id text not null,
  event text not null,
  trust text not null check (trust in ('reported', 'verified')),
  payload text not null,
  state text not null default 'received' check (state in ('received', 'recorded', 'parked', 'ignored', 'failed')),
  -- What became of it: [{kind, executionId, reason}].
  outcome jsonb not null default '[]',
  received_at timestamptz(3) not null default now(),
  done_at timestamptz(3),
  primary key (org_id, id),
  -- Did it come before?
  unique (org_id, connection_id, delivery_id),
  foreign key (org_id, connection_id) references forge_connections (org_id, id) on delete cascade
);
create index forge_deliveries_newest on forge_deliveries (org_id, connection_id, id desc);
create index forge_deliveries_state on forge_deliveries (org_id, connection_id, state, id desc);
create index forge_deliveries_old on forge_deliveries (received_at);
call app.guard_table('forge_deliveries', 'select, insert, update');
call app.open_table('forge_deliveries', 'muster_worker', 'select (org_id, id, connection_id, received_at), delete');

-- Facts about work that Muster does not know yet. They wait for its execution.
create table forge_facts (
  org_id uuid not null,
  id uuid not null,
  repository_id uuid not null,
  -- Content, so that what comes twice waits once.
  dedupe_key text not null,
  -- By what its execution may be found: `id:…`, `branch:…`, `pull:…`, `story:WEB-42`.
  keys text[] not null,
  fact jsonb not null,
  trust text not null check (trust in ('reported', 'verified')),
  parked_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, repository_id, trust, dedupe_key),
  foreign key (org_id, repository_id) references forge_repositories (org_id, id) on delete cascade
);
create index forge_facts_keys on forge_facts using gin (keys);
create index forge_facts_old on forge_facts (parked_at);
call app.guard_table('forge_facts');
call app.open_table('forge_facts', 'muster_worker', 'select (org_id, id, parked_at), delete');

-- The branch or pull request that an execution's work is in.
create table forge_pulls (
  org_id uuid not null,
  execution_id uuid not null,
  repository_id uuid not null,
  number int,
  url text,
  branch text,
  is_open boolean not null default true,
  head_sha text,
  -- The newest fact that told of the head.
  head_at timestamptz(3),
  head_key text,
  heard_at timestamptz(3) not null default now(),
  -- How the forge marked its answer when it was asked last: it says whether there is another by now.
  etag text,
  primary key (org_id, execution_id),
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade,
  foreign key (org_id, repository_id) references forge_repositories (org_id, id) on delete cascade
);
-- Whose head is this commit?
create index forge_pulls_head on forge_pulls (org_id, repository_id, head_sha);
-- Of which open ones was nothing heard for a while?
create index forge_pulls_quiet on forge_pulls (heard_at) where is_open and number is not null;
call app.guard_table('forge_pulls');
call app.open_table('forge_pulls', 'muster_worker', 'select (org_id, execution_id, repository_id, number, is_open, heard_at)');

-- What was said of the checks of a commit, each word once: the newest of each name counts.
create table forge_checks (
  org_id uuid not null,
  repository_id uuid not null,
  sha text not null,
  name text not null,
  at timestamptz(3) not null,
  state text not null check (state in ('pending', 'passed', 'failed')),
  trust text not null check (trust in ('reported', 'verified')),
  noted_at timestamptz(3) not null default now(),
  primary key (org_id, repository_id, sha, name, at, state, trust),
  foreign key (org_id, repository_id) references forge_repositories (org_id, id) on delete cascade
);
create index forge_checks_old on forge_checks (noted_at);
call app.guard_table('forge_checks', 'select, insert');
call app.open_table('forge_checks', 'muster_worker', 'select (org_id, repository_id, sha, name, at, state, trust, noted_at), delete');

-- What forges are sent of the work at the head of a pull request.
create table forge_statuses (
  org_id uuid not null,
  connection_id uuid not null,
  -- The forge's own id of the repository.
  external_id text not null,
  sha text not null,
  -- As it was sent last, or refused by the forge; null: nothing was yet.
  state text check (state in ('success', 'pending', 'failure')),
  description text,
  -- The row of the outbox that sends to this head, and until when no other does.
  held_by uuid,
  held_until timestamptz(3),
  changed_at timestamptz(3) not null default now(),
  primary key (org_id, connection_id, external_id, sha),
  foreign key (org_id, connection_id) references forge_connections (org_id, id) on delete cascade
);
create index forge_statuses_old on forge_statuses (changed_at);
call app.guard_table('forge_statuses');
call app.open_table('forge_statuses', 'muster_worker', 'select (org_id, connection_id, external_id, sha, changed_at), delete');
