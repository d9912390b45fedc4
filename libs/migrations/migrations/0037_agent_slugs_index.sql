-- outside a transaction: the index is built beside those who write.
-- Finds the agent that a mention names, and the names that are taken.
drop index concurrently if exists agents_slug_of_org;
create index concurrently agents_slug_of_org on agents (org_id, slug);
