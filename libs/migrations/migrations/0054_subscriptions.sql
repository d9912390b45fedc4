-- The choices of members to follow or mute a story (operation stories.subscribe). Without a row, the rules of each
-- kind of notification decide.
create table story_subscriptions (
  org_id uuid not null,
  story_id uuid not null,
  member_id uuid not null,
  subscribed boolean not null,
  updated_at timestamptz(3) not null default now(),
  primary key (org_id, story_id, member_id),
  foreign key (org_id, story_id) references stories (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
create index story_subscriptions_member on story_subscriptions (org_id, member_id);
call app.guard_table('story_subscriptions');

-- Notifications that are hidden until a time (operation notifications.snooze). A row has no effect after that time.
create table notification_snoozes (
  org_id uuid not null,
  notification_id uuid not null,
  member_id uuid not null,
  until timestamptz(3) not null,
  primary key (org_id, notification_id),
  foreign key (org_id, notification_id) references notifications (org_id, id) on delete cascade,
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
create index notification_snoozes_member on notification_snoozes (org_id, member_id, until);
-- Finds rows without an effect.
create index notification_snoozes_until on notification_snoozes (until);
call app.guard_table('notification_snoozes');
call app.open_table('notification_snoozes', 'muster_worker', 'select (until)');

-- The members who chose the daily digest for at least one kind, and the time up to which it was sent.
create table notification_digests (
  org_id uuid not null,
  member_id uuid not null,
  sent_until timestamptz(3) not null default now(),
  primary key (org_id, member_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
create index notification_digests_due on notification_digests (sent_until);
call app.guard_table('notification_digests');
call app.open_table('notification_digests', 'muster_worker', 'select (sent_until)');

alter table notification_preferences drop constraint notification_preferences_channel_check;
-- contract of 0011_notifications: it allows every channel that was allowed before, and one more.
alter table notification_preferences add constraint notification_preferences_channel_check
  check (channel in ('inbox', 'email', 'push', 'digest')) not valid;
alter table notification_preferences validate constraint notification_preferences_channel_check;

alter table notifications drop constraint notifications_kind_check;
-- contract of 0046_usage: it allows every kind that was allowed before, and one more.
alter table notifications add constraint notifications_kind_check check (kind in (
  'mention', 'assigned', 'review_requested', 'review_verdict', 'comment_reply', 'handoff', 'lease_expired',
  'lock_taken_over', 'lease_taken_over', 'broadcast', 'invitation_accepted', 'access_requested',
  'access_resolved', 'seat_limit', 'webhook_paused', 'unblocked', 'forge_failing', 'merge_reverted',
  'budget_warning', 'subscribed')) not valid;
alter table notifications validate constraint notifications_kind_check;
