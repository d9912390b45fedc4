-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists notifications_comment;
-- Which notifications are about this comment?
create index concurrently notifications_comment on notifications (org_id, comment_id) where comment_id is not null;
