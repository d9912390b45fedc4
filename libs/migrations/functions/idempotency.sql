-- Claims an idempotency key for this transaction. Raises MU409 if the key was used; its row then has the
-- response, or shows a mismatch.
create or replace function app.claim_key(org uuid, token uuid, op text, wanted text, print bytea) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into idempotency_keys as k (org_id, token_id, operation, key, fingerprint)
    values (org, token, op, wanted, print)
    on conflict (org_id, token_id, operation, key) do update
      set fingerprint = excluded.fingerprint, response = null, created_at = now()
      where k.created_at < now() - interval '24 hours';
  if not found then
    raise exception 'idempotency key taken' using errcode = 'MU409';
  end if;
end $$;
