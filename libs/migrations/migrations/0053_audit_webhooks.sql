-- Webhooks that send audit entries (kinds audit.*), in the order of the audit, after those of the activity.
-- The position in the audit; null if the webhook sends no audit entries.
alter table webhooks add column audit_cursor_seq bigint;
call app.open_table('webhooks', 'muster_worker', 'select (audit_cursor_seq)');
call app.open_table('streams', 'muster_worker', 'select (audit)');
-- A delivery has an event or an audit entry, and a test has neither.
alter table webhook_deliveries add column audit_seq bigint;
alter table webhook_deliveries drop constraint webhook_deliveries_check;
-- contract of 0011_notifications: deliveries of events fulfil the new constraint, too.
alter table webhook_deliveries add constraint webhook_deliveries_check
  check (num_nonnulls(activity_seq, audit_seq) = num_nonnulls(seq)) not valid;
alter table webhook_deliveries validate constraint webhook_deliveries_check;
