-- outside a transaction: the index is built beside those who write.
-- Comments that their authors sent as replies to notification mails. mail_key identifies the mail, which a server may
-- deliver twice.
alter table comments add column if not exists via text, add column if not exists mail_key text;
-- Finds the mailed comments of a member, newest last, to recognize repeated mails and to limit their number.
drop index concurrently if exists comments_mailed;
create index concurrently comments_mailed on comments (org_id, author_member_id, id) where via is not null;
