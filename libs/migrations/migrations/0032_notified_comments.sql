-- The comment that a notification is about: the notification leaves the inbox when the comment is deleted.
alter table notifications add column comment_id uuid;
