-- What stands beside the board: what work begins with, what stories agree on, and what came from other trackers.

-- Words to begin work with, that an organization, or a project for itself, agrees on.
create table prompts (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  -- Null: the organization's. A project's own hides that of the same slug.
  project_id uuid,
  slug text collate "C" not null check (slug ~ '^[a-z0-9-]{1,64}$'),
  title text not null check (length(title) between 1 and 200),
  body text not null check (octet_length(body) <= 65536),
  arguments jsonb not null default '[]',
  tags text[] not null default '{}',
  created_by jsonb not null,
  updated_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- Which prompt does a slug mean? Also the order of lists.
create unique index prompts_slug on prompts (org_id, project_id, slug) nulls not distinct;
call app.guard_table('prompts');

-- An interface that stories agreed on; what it says stands in its versions.
create table contracts (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  slug text collate "C" not null check (slug ~ '^[a-z0-9-]{1,64}$'),
  -- The newest; 0 only until the transaction that makes the contract has written its first.
  version int not null default 0 check (version >= 0),
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  unique (org_id, project_id, id),
  -- Which contract does a slug mean? Also the order of lists.
  unique (org_id, project_id, slug),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
call app.guard_table('contracts', 'select, insert, update');

create table contract_versions (
  org_id uuid not null,
  contract_id uuid not null,
  version int not null check (version >= 1),
  project_id uuid not null,
  kind text not null check (kind in ('openapi', 'json_schema', 'typescript', 'protobuf', 'graphql', 'markdown')),
  content text not null check (octet_length(content) between 1 and 262144),
  content_hash text not null,
  -- The story it was published for, as long as there is one (functions/let-go.sql). It needs no foreign key:
  -- whoever publishes a version holds the story, and whoever deletes it sees the version.
  story_id uuid,
  note text,
  published_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, contract_id, version),
  foreign key (org_id, project_id, contract_id) references contracts (org_id, project_id, id) on delete cascade
);
-- Which versions name a story that is deleted?
create index contract_versions_story on contract_versions (org_id, story_id) where story_id is not null;
call app.guard_table('contract_versions', 'select, insert');
call app.open_table('contract_versions', 'muster_door', 'select (org_id, story_id), update (story_id)');

-- The stories that a contract was published for, each once.
create table contract_stories (
  org_id uuid not null,
  story_id uuid not null,
  slug text collate "C" not null,
  contract_id uuid not null,
  project_id uuid not null,
  -- The contracts of a story, in the order of lists.
  primary key (org_id, story_id, slug),
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id) on delete cascade,
  foreign key (org_id, project_id, contract_id) references contracts (org_id, project_id, id) on delete cascade
);
-- Whom does a contract that is deleted concern?
create index contract_stories_contract on contract_stories (org_id, contract_id);
call app.guard_table('contract_stories', 'select, insert');

-- Work that comes from another tracker, a portion at a time.
create table imports (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  provider text not null check (provider in ('github', 'gitlab', 'jira', 'linear', 'other')),
  name text not null check (length(name) between 1 and 120),
  state text not null default 'open' check (state in ('open', 'finished', 'reverted')),
  begun_by jsonb not null,
  -- What became of its items, as often as they were put.
  created int not null default 0,
  updated int not null default 0,
  unchanged int not null default 0,
  kept int not null default 0,
  refused int not null default 0,
  finished_at timestamptz(3),
  reverted_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The imports of a project, newest first.
create index imports_project on imports (org_id, project_id, id);
call app.guard_table('imports');
call app.open_table('imports', 'muster_door', 'select');

-- Which record an item of another tracker became. It stays when the record is deleted: so it is known that it was.
create table import_items (
  org_id uuid not null,
  project_id uuid not null,
  provider text not null,
  kind text not null check (kind in ('story', 'epic', 'comment')),
  external_id text not null,
  record_id uuid not null,
  -- The import that made the record; null where the record was there before.
  made_by uuid,
  -- The import that put it last.
  import_id uuid not null,
  -- What the source said of it last; null where that is not known.
  source_hash bytea check (length(source_hash) = 32),
  -- The record's version as the import left it: another one was changed here since.
  record_version int not null,
  -- External ids of the stories that it waits for, which are found when the import is finished.
  blocked_by text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, project_id, provider, kind, external_id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, import_id) references imports (org_id, id) on delete cascade
);
-- What did an import make, and what did it put last?
create index import_items_made on import_items (org_id, made_by, kind) where made_by is not null;
create index import_items_put on import_items (org_id, import_id, kind);
-- Which item became this record?
create index import_items_record on import_items (org_id, record_id);
call app.guard_table('import_items');
