-- outside a transaction: the indexes are built beside those who write.
-- The runs of a project, and of an agent, in one state, newest first.
drop index concurrently if exists agent_runs_project;
create index concurrently agent_runs_project on agent_runs (org_id, project_id, state, id);
drop index concurrently if exists agent_runs_agent;
create index concurrently agent_runs_agent on agent_runs (org_id, agent_id, state, id) where agent_id is not null;
