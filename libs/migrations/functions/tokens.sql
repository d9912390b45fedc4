-- Revokes the tokens that were created with a token in the transaction that revokes it; they never outlive
-- its expiry. Each of them fires the trigger again, so all descendants end.
create or replace function app.end_child_tokens() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update tokens t set revoked_at = new.revoked_at, expires_at = least(t.expires_at, new.expires_at)
    where t.org_id = new.org_id and t.parent_id = new.id and t.revoked_at is null
      and (new.revoked_at is not null or coalesce(t.expires_at, 'infinity') > new.expires_at);
  return null;
end $$;
create or replace trigger tokens_end_children after update of revoked_at, expires_at on tokens for each row
  when ((old.revoked_at is null and new.revoked_at is not null) or new.expires_at < coalesce(old.expires_at, 'infinity'))
  execute function app.end_child_tokens();
