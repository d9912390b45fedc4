-- What work begins with, and what stories agree on.

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
  -- The story it was published for, as long as there is one.
  story_id uuid,
  note text,
  published_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, contract_id, version),
  foreign key (org_id, project_id, contract_id) references contracts (org_id, project_id, id) on delete cascade,
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id) on delete set null (story_id)
);
-- Which versions name a story that is deleted?
create index contract_versions_story on contract_versions (org_id, story_id) where story_id is not null;
call app.guard_table('contract_versions', 'select, insert');

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
