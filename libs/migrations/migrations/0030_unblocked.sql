-- Assignees are notified when their story is no longer blocked.
alter table notifications drop constraint notifications_kind_check;
-- contract of 0011_notifications: it allows every kind that was allowed before, and one more.
alter table notifications add constraint notifications_kind_check check (kind in (
  'mention', 'assigned', 'review_requested', 'review_verdict', 'comment_reply', 'handoff', 'lease_expired',
  'lock_taken_over', 'lease_taken_over', 'broadcast', 'invitation_accepted', 'access_requested',
  'access_resolved', 'seat_limit', 'webhook_paused', 'unblocked')) not valid;
alter table notifications validate constraint notifications_kind_check;
