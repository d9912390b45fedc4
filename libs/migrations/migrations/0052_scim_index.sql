-- outside a transaction: the indexes are built beside those who write.
-- Finds members and teams by the id that the identity provider has for them.
drop index concurrently if exists members_external;
create index concurrently members_external on members (org_id, external_id) where external_id is not null;
drop index concurrently if exists teams_external;
create index concurrently teams_external on teams (org_id, external_id) where external_id is not null;
-- Finds deactivated members by their address, and those of a team.
drop index concurrently if exists members_deactivated;
create index concurrently members_deactivated on members (org_id, lower(email)) where deactivated_at is not null;
drop index concurrently if exists members_paused_teams;
create index concurrently members_paused_teams on members using gin (paused_team_ids) where deactivated_at is not null;
