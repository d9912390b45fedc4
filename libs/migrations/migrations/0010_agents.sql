-- Agents: what their runs last said, and the catalog of those that an organization shares.

-- One row per run, whatever it says: its events move the row, and only its beginning and its end are told. Whether a
-- run is stalled is read from times and leases, never stored.
create table agent_runs (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  -- The client's own id of its run; it belongs to the member and the agent that began it.
  run_id text not null,
  member_id uuid not null,
  agent_id uuid,
  -- As long as there is one.
  story_id uuid,
  -- The work it holds or held last; with it the run ends.
  execution_id uuid,
  state text not null check (state in ('running', 'waiting', 'completed', 'failed', 'canceled')),
  last_event jsonb not null,
  -- The newest keys of events, as hashes: so many as a run may repeat, and no more.
  recent_keys uuid[] not null default '{}' check (cardinality(recent_keys) <= 100),
  started_at timestamptz(3) not null default clock_timestamp(),
  last_seen_at timestamptz(3) not null default clock_timestamp(),
  ended_at timestamptz(3),
  primary key (org_id, id),
  -- Which run does a client mean?
  unique (org_id, project_id, run_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id),
  foreign key (org_id, execution_id) references executions (org_id, id),
  check ((state in ('completed', 'failed', 'canceled')) = (ended_at is not null))
);
-- Which runs were heard of lately, and have not ended?
create index agent_runs_seen on agent_runs (org_id, last_seen_at) where ended_at is null;
-- Which runs end with an execution? Which name one that is deleted?
create index agent_runs_execution on agent_runs (org_id, execution_id) where execution_id is not null;
-- Which runs name a story that is deleted?
create index agent_runs_story on agent_runs (org_id, story_id) where story_id is not null;
-- Which runs end when a member goes?
create index agent_runs_member on agent_runs (org_id, member_id) where ended_at is null;
-- Which runs ended long ago? The worker removes them.
create index agent_runs_over on agent_runs (ended_at) where ended_at is not null;
call app.guard_table('agent_runs', 'select, insert, update');
call app.open_table('agent_runs', 'muster_worker', 'select (ended_at, last_seen_at)');
call app.open_table('agent_runs', 'muster_door', 'select (org_id, story_id, execution_id), update (story_id, execution_id)');

-- An agent that the organization shares. Whoever publishes or deletes a version of it has this row locked.
create table catalog_agents (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  slug text collate "C" not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 64),
  -- Who published it first; the next versions are this member's, or an admin's, to publish.
  publisher_id uuid not null,
  -- The newest release, else the newest pre-release; null only until the transaction that makes the agent has written it.
  latest_version text collate "C",
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  -- Which agent does a slug mean? Also the order of lists.
  unique (org_id, slug),
  foreign key (org_id, publisher_id) references members (org_id, id) on delete cascade
);
call app.guard_table('catalog_agents');

-- A version says the same for ever, until it is deleted.
create table catalog_versions (
  org_id uuid not null,
  agent_id uuid not null,
  version text collate "C" not null check (length(version) <= 128),
  name text not null,
  description text not null,
  manifest jsonb not null,
  tags text[] not null default '{}',
  content bytea not null,
  content_type text not null,
  encoding text not null check (encoding in ('utf8', 'base64')),
  -- Of the content's bytes.
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  size int not null check (size = octet_length(content) and size between 1 and 4194304),
  published_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  -- Also: which versions has an agent?
  primary key (org_id, agent_id, version),
  foreign key (org_id, agent_id) references catalog_agents (org_id, id) on delete cascade
);
call app.guard_table('catalog_versions', 'select, insert, delete');

-- What was deleted, by slug, for it outlives the agent: a version never comes back with other content.
create table catalog_tombstones (
  org_id uuid not null references orgs (id) on delete cascade,
  slug text collate "C" not null,
  version text collate "C" not null,
  sha256 text not null,
  deleted_at timestamptz(3) not null default now(),
  -- With what content was it published before?
  primary key (org_id, slug, version)
);
call app.guard_table('catalog_tombstones', 'select, insert');
