-- outside a transaction: the index is built beside those who write.
-- Finds the member of a Slack account, which is connected to one member of an organization at most.
drop index concurrently if exists devices_slack_account;
-- contract of 0063_answers: no row had this platform before.
create unique index concurrently devices_slack_account on devices (org_id, device_id) where platform = 'slack_account';
