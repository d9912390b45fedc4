-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists forge_pulls_branch;
create index concurrently forge_pulls_branch on forge_pulls (org_id, repository_id, branch) where branch is not null;
