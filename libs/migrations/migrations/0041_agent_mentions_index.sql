-- outside a transaction: the index is built beside those who write.
-- Finds the last comment on a story that mentions an agent.
drop index concurrently if exists comments_agent_mentions;
create index concurrently comments_agent_mentions on comments (org_id, story_id, id) where agent_mentions <> '{}';
