-- Programs of operators publish and yank releases. 0012 validates the constraint.
alter table licenses.operator_tokens drop constraint operator_tokens_scopes_check;
-- contract of 0003_operators: it allows every scope that was allowed before, and one more.
alter table licenses.operator_tokens add constraint operator_tokens_scopes_check
  check (scopes <@ array['read', 'issue', 'change', 'webhooks', 'publish'] and cardinality(scopes) > 0) not valid;

grant insert on licenses.releases to muster_license_operators;
grant update (yanked_at, yank_reason) on licenses.releases to muster_license_operators;
