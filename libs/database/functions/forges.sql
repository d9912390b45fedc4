-- The way in of a delivery: a connection says which organization it is of, and what opens the secret that it is signed with.
-- No row where there is no such connection any more.
create or replace function app.find_forge_connection(connection uuid)
returns table (org_id uuid, kind text, secret bytea, organization_key bytea)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select c.org_id, c.kind, c.secret, s.cursor_key
  from public.forge_connections c
  join public.orgs o on o.id = c.org_id and o.deleted_at is null
  join public.streams s on s.org_id = c.org_id
  where c.id = connection and c.deleted_at is null
$$;
call app.hand_over('app.find_forge_connection(uuid)', 'muster_door');
grant execute on function app.find_forge_connection(uuid) to muster_app;
