-- Functions for the copies of accounts, sessions and passkeys on every server (docs/decisions/scale.md). A
-- change is recorded for each other server. Sign-in sends it there (libs/placement/src/copies.ts) if its own
-- transaction recorded anything. Changes received from a server are not sent back to it.

create or replace function app.note_unsent() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sign_in.unsent as u (peer, kind, id, is_end)
    select p.name, tg_table_name, case tg_op when 'DELETE' then old.id else new.id end,
      tg_op = 'DELETE' or to_jsonb(new) ->> 'revoked_at' is not null
    from sign_in.peers p where p.name is distinct from current_setting('muster.from_peer', true)
    on conflict (peer, kind, id) do update set version = excluded.version, is_end = excluded.is_end;
  if found then perform set_config('muster.has_unsent', 'yes', true); end if;
  return null;
end $$;
call app.hand_over('app.note_unsent()', 'muster_door');
create or replace trigger accounts_unsent after insert or delete or update of email, name on sign_in.accounts
  for each row execute function app.note_unsent();
create or replace trigger passkeys_unsent after insert or delete or update of name, counter, is_synced, last_used_at on sign_in.passkeys
  for each row execute function app.note_unsent();
create or replace trigger sessions_unsent after insert or delete on sign_in.sessions
  for each row execute function app.note_unsent();
-- Using a session extends its expiry every minute. The other servers receive the new expiry only once a day.
create or replace trigger sessions_changed_unsent after update on sign_in.sessions for each row
  when ((old.hash, old.proofs, old.proven_at, old.revoked_at, date_trunc('day', old.expires_at, 'UTC'))
    is distinct from (new.hash, new.proofs, new.proven_at, new.revoked_at, date_trunc('day', new.expires_at, 'UTC')))
  execute function app.note_unsent();

-- Finds the organization of a connection, or of a token by its hash, on this server.
create or replace function app.organization_of(connection uuid, token_hash bytea) returns uuid
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return coalesce(
    (select c.org_id from connections c where c.id = connection),
    (select t.org_id from tokens t where t.hash = token_hash));
end $$;
call app.hand_over('app.organization_of(uuid, bytea)', 'muster_door');
grant execute on function app.organization_of(uuid, bytea) to muster_sign_in;
