-- What forges are sent of the work at the head of a pull request, and what they are asked for.

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

-- The forge asked for patience: nothing is sent to it or asked of it before.
alter table forge_connections add column quiet_until timestamptz(3);
-- Of the GitHub App that it is called as: what it says itself of a head is no check of the work.
alter table forge_connections add column app_id text;

-- How the forge marked its answer when it was asked last: it says whether there is another by now.
alter table forge_pulls add column etag text;

-- What is sent is kept for each head, in forge_statuses; these were never written.
-- contract of 0020_forge_connections: nothing reads or writes them.
alter table forge_pulls drop column status_sha;
-- contract of 0020_forge_connections: nothing reads or writes them.
alter table forge_pulls drop column status_text;

-- Which open ones can be asked about?
call app.open_table('forge_repositories', 'muster_worker', 'select (org_id, id, connection_id)');
call app.open_table('forge_connections', 'muster_worker', 'select (org_id, id, deleted_at, credentials_kind)');
call app.open_table('forge_pulls', 'muster_worker', 'select (org_id, execution_id, repository_id, number, is_open, heard_at)');
