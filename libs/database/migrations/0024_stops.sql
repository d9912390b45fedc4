-- Is a stop in force on this target?
create index executions_stopped on executions (org_id, target_type, target_id) where stop_requested is not null;
