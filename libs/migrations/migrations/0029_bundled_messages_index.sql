-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists notifications_sending;
-- What went out to a member lately, and what goes out together?
create index concurrently notifications_sending on notifications (org_id, member_id, sends_at) where sends_at is not null;
