-- Exports: archives of an organization, of a project or of one person's data. A job writes them in parts.
create table exports (
  org_id uuid not null,
  id uuid not null,
  scope text not null check (scope in ('org', 'project', 'me')),
  project_id uuid,
  member_id uuid not null,
  requested_by jsonb not null,
  state text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed')),
  failure text,
  -- Records that were created later are not exported.
  started_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  expires_at timestamptz(3),
  -- The position at which the job continues; null before it began.
  position jsonb,
  -- The run of the job that may write. A run that was replaced by another one writes nothing more.
  writer uuid,
  -- The number of runs since the last progress.
  attempts int not null default 0,
  progress int not null default 0 check (progress between 0 and 100),
  records bigint not null default 0,
  size bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  check ((scope = 'project') = (project_id is not null)),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- One export of the same scope at a time: of the organization, of a project, or of a member's own data.
create unique index exports_live on exports (org_id, scope, project_id, (case scope when 'me' then member_id end))
  nulls not distinct where state in ('queued', 'running');
create index exports_member on exports (org_id, member_id);
create index exports_project on exports (org_id, project_id) where project_id is not null;
create index exports_finished on exports (finished_at) where finished_at is not null;
call app.guard_table('exports');
call app.open_table('exports', 'muster_worker', 'select (finished_at)');

-- The parts of an archive, whose bytes in the order of `position` are the archive. A part without a size is being
-- written. Its bytes are stored like those of attachments, under the key `<org_id>/<id>`.
create table export_parts (
  org_id uuid not null,
  export_id uuid not null,
  id uuid not null,
  position int not null,
  size int,
  created_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, export_id) references exports (org_id, id) on delete cascade
);
create unique index export_parts_order on export_parts (org_id, export_id, position) where size is not null;
create index export_parts_export on export_parts (org_id, export_id);
call app.guard_table('export_parts');

-- The files in an archive, for its manifest. A file without a digest could not be read.
create table export_files (
  org_id uuid not null,
  export_id uuid not null,
  name text not null,
  position int not null,
  size bigint not null,
  sha256 text,
  records int not null default 0,
  primary key (org_id, export_id, name),
  foreign key (org_id, export_id) references exports (org_id, id) on delete cascade
);
call app.guard_table('export_files');

-- The half of the key that signs exports. The other half is the configuration's SECRETS_KEY.
create table app.export_key (
  is_only boolean primary key default true check (is_only),
  salt uuid not null default gen_random_uuid()
);
insert into app.export_key default values;
grant select on app.export_key to muster_door;
