-- The changed files of a head of an execution, as the forge or the runner reported them (operation changes.diff).
create table code_changes (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  execution_id uuid not null,
  source text not null check (source in ('forge', 'runner')),
  head_sha text not null,
  base_sha text,
  state text not null check (state in ('ready', 'failed')),
  -- Why the forge gave no changes.
  failure jsonb,
  -- The uploaded diff of a runner.
  attachment_id uuid,
  file_count int not null default 0,
  additions int not null default 0,
  deletions int not null default 0,
  is_truncated boolean not null default false,
  stored_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade,
  foreign key (org_id, attachment_id) references attachments (org_id, id) on delete cascade
);
create unique index code_changes_head on code_changes (org_id, execution_id, source, head_sha);
create index code_changes_project on code_changes (org_id, project_id);
create index code_changes_attachment on code_changes (org_id, attachment_id) where attachment_id is not null;
-- The worker deletes old rows.
create index code_changes_stored on code_changes (stored_at);
call app.guard_table('code_changes');
call app.open_table('code_changes', 'muster_worker', 'select (org_id, id, stored_at), delete');

create table code_change_files (
  org_id uuid not null,
  changes_id uuid not null,
  -- The order in which the source lists the files, from 1.
  seq int not null,
  path text not null,
  old_path text,
  status text not null,
  additions int not null,
  deletions int not null,
  is_binary boolean not null,
  is_truncated boolean not null,
  -- The hunks; null if the file is binary or the patch is too large.
  patch text,
  primary key (org_id, changes_id, seq),
  foreign key (org_id, changes_id) references code_changes (org_id, id) on delete cascade
);
call app.guard_table('code_change_files', 'select, insert, delete');
