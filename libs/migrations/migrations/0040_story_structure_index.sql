-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists stories_parent;
-- The children of a story.
create index concurrently stories_parent on stories (org_id, parent_id) where parent_id is not null;
