-- What a console and agents ask of all work: which executions there are, by what people look for them.

-- As columns, since a condition on a part of JSON is one that row security lets no index be asked about. A URL may be
-- longer than an index takes, so its hash is looked for, and the URL itself compared.
alter table executions
  add column branch text generated always as (git ->> 'branch') stored,
  add column opened_number bigint generated always as ((git #>> '{pullRequest,number}')::bigint) stored,
  add column opened_url_hash text generated always as (md5(git #>> '{pullRequest,url}')) stored,
  add column submitted_number bigint generated always as ((pull_request ->> 'number')::bigint) stored,
  add column submitted_url_hash text generated always as (md5(pull_request ->> 'url')) stored;

-- Which are the newest of a project? Of each state, and of those that have to be taken up again?
create index executions_newest on executions (org_id, project_id, id);
create index executions_state on executions (org_id, project_id, state, needs_rework, id);
-- Which are about a branch, or a pull request: as the work on it or the forge said, or as it was handed in?
create index executions_branch on executions (org_id, project_id, branch, id) where branch is not null;
create index executions_opened_number on executions (org_id, project_id, opened_number, id) where opened_number is not null;
create index executions_opened_url on executions (org_id, project_id, opened_url_hash, id) where opened_url_hash is not null;
create index executions_submitted_number on executions (org_id, project_id, submitted_number, id)
  where submitted_number is not null;
create index executions_submitted_url on executions (org_id, project_id, submitted_url_hash, id)
  where submitted_url_hash is not null;
-- What does an agent hold? What its member holds, leases_member knows.
create index leases_agent on leases (org_id, agent_id) where state = 'held' and agent_id is not null;

-- Which stories of a column come next, the most urgent first? What is finished is in no column that is asked for.
create index stories_next on stories (org_id, project_id, column_id, priority, rank) where completed_at is null;
