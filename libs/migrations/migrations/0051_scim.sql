-- Identity providers manage members and teams by SCIM (docs/guides/scim.md).
alter table members
  -- The identity provider's own id of the person, and the parts of their name as it sent them.
  add column external_id text check (length(external_id) between 1 and 255),
  add column given_name text check (length(given_name) between 1 and 120),
  add column family_name text check (length(family_name) between 1 and 120),
  -- Set while the identity provider has deactivated a removed member, who can be activated again.
  add column deactivated_at timestamptz(3),
  -- The last activation. Sessions that ended before it stay ended.
  add column activated_at timestamptz(3),
  -- The teams that a deactivated member joins again with the activation. Deleted teams are ignored.
  add column paused_team_ids uuid[];
alter table teams add column external_id text check (length(external_id) between 1 and 255);

alter table tokens drop constraint tokens_scopes_check;
-- contract of 0002_organizations: it allows every scope that was allowed before, and one more.
alter table tokens add constraint tokens_scopes_check
  check (scopes <@ array['read', 'write', 'admin', 'platform', 'scim']) not valid;
alter table tokens validate constraint tokens_scopes_check;
