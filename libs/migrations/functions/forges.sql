-- Finds the organization of a forge connection, for a delivery, with the keys that decrypt the secret of its
-- signature. Returns no row if the connection no longer exists.
create or replace function app.find_forge_connection(connection uuid)
returns table (org_id uuid, kind text, secret bytea, organization_key bytea)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select c.org_id, c.kind, c.secret, s.cursor_key
    from public.forge_connections c
    join public.orgs o on o.id = c.org_id and o.deleted_at is null
    join public.streams s on s.org_id = c.org_id
    where c.id = connection and c.deleted_at is null;
end $$;
call app.hand_over('app.find_forge_connection(uuid)', 'muster_door');
grant execute on function app.find_forge_connection(uuid) to muster_app;
