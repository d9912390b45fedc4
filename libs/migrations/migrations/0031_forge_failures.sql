-- A connection to a forge says that its deliveries cannot be read, and two kinds of notifications are new.
alter table forge_connections add column delivery_error jsonb;

alter table notifications drop constraint notifications_kind_check;
-- contract of 0030_unblocked: it allows every kind that was allowed before, and two more.
alter table notifications add constraint notifications_kind_check check (kind in (
  'mention', 'assigned', 'review_requested', 'review_verdict', 'comment_reply', 'handoff', 'lease_expired',
  'lock_taken_over', 'lease_taken_over', 'broadcast', 'invitation_accepted', 'access_requested',
  'access_resolved', 'seat_limit', 'webhook_paused', 'unblocked', 'forge_failing', 'merge_reverted')) not valid;
alter table notifications validate constraint notifications_kind_check;
