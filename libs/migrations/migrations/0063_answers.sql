-- The answers that a question offers, from which a member can choose one.
alter table comments add column options text[] not null default '{}';

-- A Slack account that may answer as its member is a device without a push token. Its device_id names the workspace and
-- the user.
-- contract of 0060_chat: it allows every device that was allowed before, and more.
alter table devices
  drop constraint devices_platform_check,
  add constraint devices_platform_check check (platform in
    ('macos', 'windows', 'linux', 'ios', 'android', 'web', 'slack', 'teams', 'slack_account')) not valid,
  drop constraint devices_token_check,
  add constraint devices_token_check
    check (token_id is not null or platform in ('slack', 'teams', 'slack_account')) not valid;
alter table devices validate constraint devices_platform_check;
alter table devices validate constraint devices_token_check;
