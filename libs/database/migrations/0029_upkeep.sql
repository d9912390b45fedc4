-- Rows that are written again and again leave dead ones behind. The usual fifth of a table is days of renewals where it has a
-- hundred million leases, and the look for the next expiry reads all of them; small tables stay as they were.
alter table leases set (autovacuum_vacuum_max_threshold = 50000);
alter table executions set (autovacuum_vacuum_max_threshold = 50000);
alter table outbox set (autovacuum_vacuum_max_threshold = 50000);
alter table notification_counts set (autovacuum_vacuum_max_threshold = 50000);
alter table tokens set (autovacuum_vacuum_max_threshold = 50000);
-- Every write of an organization is one to its row: half of each page is left free, so that its new version lies beside it.
alter table streams set (autovacuum_vacuum_max_threshold = 5000, fillfactor = 50);
