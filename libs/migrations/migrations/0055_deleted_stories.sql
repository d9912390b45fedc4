-- Stories that were deleted in the last 30 days (operation stories.restore), each with the rows that the deletion removed.
-- Callers find only these copies, so no other statement has to leave deleted stories out.
create table deleted_stories (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  number int not null,
  title text not null,
  deleted_by jsonb not null,
  deleted_at timestamptz(3) not null default now(),
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
create index deleted_stories_number on deleted_stories (org_id, project_id, number);
-- The deleted stories of a project, newest first.
create index deleted_stories_newest on deleted_stories (org_id, project_id, deleted_at, id);
-- Finds the stories that have been kept for 30 days.
create index deleted_stories_age on deleted_stories (deleted_at);
call app.guard_table('deleted_stories');
call app.open_table('deleted_stories', 'muster_door', 'select');
call app.open_table('deleted_stories', 'muster_worker', 'select (deleted_at)');

-- The rows of a deleted story: the story itself first, then the rows of other tables. A kind is the name of a table, or of a
-- reference to the story that the deletion cleared (functions/deleted-stories.sql).
create table deleted_records (
  org_id uuid not null,
  story_id uuid not null,
  nth int not null,
  kind text not null,
  record jsonb not null,
  primary key (org_id, story_id, nth),
  foreign key (org_id, story_id) references deleted_stories (org_id, id) on delete cascade
);
-- The quota of an organization includes the files of its deleted stories.
create index deleted_records_files on deleted_records (org_id) where kind = 'attachments';
call app.guard_table('deleted_records');

-- The files of a deleted story are kept as long as the story.
grant select, update, delete on app.file_deletions to muster_door;
-- A restored story is the story of the versions of contracts again (app.restore_contract_versions).
call app.open_table('contract_versions', 'muster_door', 'select (contract_id, version)');
