-- Comments that their authors sent as replies to notification mails. mail_key identifies the mail, which a server may
-- deliver twice.
alter table comments add column via text, add column mail_key text;
