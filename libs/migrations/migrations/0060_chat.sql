-- Chat services. A webhook can send messages in the format of Slack or Microsoft Teams; the column secret of such a
-- webhook is its encrypted URL, and the column url shows only the host.
alter table webhooks add column format text not null default 'standard',
  add constraint webhooks_format_check check (format in ('standard', 'slack', 'teams')) not valid;
alter table webhooks validate constraint webhooks_format_check;

-- A channel of a chat service is a device of its member. Its push_token is the encrypted URL of an incoming webhook. If
-- a session connected it, it belongs to no token, so that it stays connected when its member signs out.
-- contract of 0002_organizations: it allows every device that was allowed before, and more.
alter table devices alter column token_id drop not null,
  drop constraint devices_platform_check,
  add constraint devices_platform_check
    check (platform in ('macos', 'windows', 'linux', 'ios', 'android', 'web', 'slack', 'teams')) not valid,
  add constraint devices_token_check check (token_id is not null or platform in ('slack', 'teams')) not valid;
alter table devices validate constraint devices_platform_check;
alter table devices validate constraint devices_token_check;
