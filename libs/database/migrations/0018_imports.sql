-- Work that comes from other trackers, and how it is known again.

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
