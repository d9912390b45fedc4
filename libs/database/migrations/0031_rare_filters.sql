-- outside a transaction: the indexes are built beside those who write.
drop index concurrently if exists epics_status;
create index concurrently epics_status on epics (org_id, project_id, status, id);
drop index concurrently if exists members_role;
create index concurrently members_role on members (org_id, status, role, name, id);
