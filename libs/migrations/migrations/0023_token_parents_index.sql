-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists tokens_of_parent;
create index concurrently tokens_of_parent on tokens (org_id, parent_id) where parent_id is not null;
