-- outside a transaction: the index is built beside those who write.
drop index concurrently if exists executions_stopped;
-- Is a stop in force on this target?
create index concurrently executions_stopped on executions (org_id, target_type, target_id) where stop_requested is not null;
