-- outside a transaction: the index is built beside those who write.
-- Finds the mailed comments of a member, newest last, to recognize repeated mails and to limit their number.
drop index concurrently if exists comments_mailed;
create index concurrently comments_mailed on comments (org_id, author_member_id, id) where via is not null;
