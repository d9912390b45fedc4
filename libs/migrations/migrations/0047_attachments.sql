-- Files that are attached to stories, comments and executions. Their bytes are in a folder or in S3, under the key
-- `<org_id>/<id>`.
create table attachments (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  -- The story, or the story of the comment or execution; null for an execution of a delivery group.
  story_id uuid,
  comment_id uuid,
  execution_id uuid,
  name text not null check (length(name) between 1 and 255),
  content_type text not null,
  size int not null check (size between 0 and 52428800),
  sha256 text not null,
  kind text not null,
  -- A pending attachment has a row and no file yet.
  state text not null default 'pending' check (state in ('pending', 'stored')),
  head_sha text,
  -- The number of the code under review when the evidence was attached (stories.code).
  code_seq int,
  report jsonb,
  author jsonb not null,
  author_member_id uuid not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  check (num_nonnulls(comment_id, execution_id) <= 1 and (story_id is not null or execution_id is not null)),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, story_id) references stories (org_id, id) on delete cascade,
  foreign key (org_id, comment_id) references comments (org_id, id) on delete cascade,
  foreign key (org_id, execution_id) references executions (org_id, id) on delete cascade
);
-- The attachments of each kind of record, newest first.
create index attachments_story on attachments (org_id, story_id, id) where story_id is not null;
create index attachments_comment on attachments (org_id, comment_id, id) where comment_id is not null;
create index attachments_execution on attachments (org_id, execution_id, id) where execution_id is not null;
create index attachments_project on attachments (org_id, project_id);
-- The sum of an organization's sizes, for its quota.
create index attachments_size on attachments (org_id) include (size);
-- Uploads that were never finished.
create index attachments_pending on attachments (created_at) where state = 'pending';
call app.guard_table('attachments');
call app.open_table('attachments', 'muster_door', 'select');
call app.open_table('attachments', 'muster_worker', 'select (state, created_at)');

-- The files that no attachment refers to any more. A job deletes them when they are due. Rows outlive their
-- organization, so they refer to no other table.
create table app.file_deletions (
  key text primary key,
  due_at timestamptz(3) not null
);
create index file_deletions_due on app.file_deletions (due_at);
grant insert on app.file_deletions to muster_door;
grant select, delete on app.file_deletions to muster_worker;

-- The id of the folder that holds the files. Each service compares it with the id in its own folder, and so notices if
-- several copies do not share one folder.
create table app.file_folder (
  is_only boolean primary key default true check (is_only),
  id uuid not null
);
grant select, insert on app.file_folder to muster_door;
