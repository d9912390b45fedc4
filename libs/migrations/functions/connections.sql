-- Functions for the OAuth connections of clients, which sign-in creates, and their tokens. All run as
-- muster_door, since sign-in itself reads no data of organizations.

-- Creates a connection of an account's member. Returns null, or the reason of a refusal: `member`, `agent`,
-- `role`, `projects`, `limit`. A concurrent retirement of the agent or removal of the member waits for the
-- member's row, and then ends the connection, too.
create or replace function app.open_connection(
  account uuid, organization uuid, connection uuid, agent uuid, client text, name text, host text, for_resource text,
  wanted text[], projects uuid[], days int) returns text
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  own uuid := app.own_membership(account, organization);
  held text;
begin
  select m.role into held from members m join orgs o on o.id = m.org_id and o.deleted_at is null
    where m.org_id = organization and m.id = own and m.status = 'active' for no key update of m;
  if not found then return 'member'; end if;
  if not exists (select 1 from agents a
      where a.org_id = organization and a.id = agent and a.member_id = own and a.retired_at is null) then
    return 'agent';
  end if;
  if 'admin' = any (wanted) and held not in ('owner', 'admin') then return 'role'; end if;
  if exists (select 1 from unnest(projects) named (id) where not exists (
      select 1 from projects p where p.org_id = organization and p.id = named.id
        and app.project_rank(p.org_id, p.id, p.visibility, own, held) is not null)) then
    return 'projects';
  end if;
  if (select count(*) >= 100 from (select 1 from connections c where c.org_id = organization and c.member_id = own
      and c.revoked_at is null and c.expires_at > now() limit 100) alive) then
    return 'limit';
  end if;
  insert into connections (org_id, id, member_id, agent_id, client_id, client_name, client_host, resource, scopes, project_ids, expires_at)
    values (organization, connection, own, agent, client, name, host, for_resource, wanted, projects, now() + make_interval(days => days));
  return null;
end $$;
call app.hand_over('app.open_connection(uuid, uuid, uuid, uuid, text, text, text, text, text[], uuid[], int)', 'muster_door');
grant execute on function app.open_connection(uuid, uuid, uuid, uuid, text, text, text, text, text[], uuid[], int) to muster_sign_in;

-- Writes the audit entry of a new connection. Its actor is the person who consented. The entry contains the
-- connection's details, which remain readable after the connection has ended. It must be the last statement
-- of its transaction, since it locks the stream.
create or replace function app.note_connection(connection uuid, entry uuid, request jsonb) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  with made as (select c.org_id, c.id, c.member_id, m.name, jsonb_build_object(
      'client', jsonb_build_object('name', c.client_name, 'host', c.client_host),
      'agent', jsonb_build_object('id', a.id, 'name', a.name),
      'projectIds', c.project_ids, 'scopes', c.scopes, 'expiresAt', to_char(c.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) as details
    from public.connections c
    join public.members m on m.org_id = c.org_id and m.id = c.member_id
    join public.agents a on a.org_id = c.org_id and a.id = c.agent_id where c.id = connection),
  numbered as (update public.streams s set audit = s.audit + 1 from made where s.org_id = made.org_id returning s.audit)
  insert into public.audit (org_id, seq, id, actor, member_id, operation, target, outcome, ip, user_agent, request_id, details)
    select made.org_id, numbered.audit, entry,
      jsonb_build_object('kind', 'member', 'memberId', made.member_id, 'agentId', null, 'name', made.name),
      made.member_id, 'connections.consent', made.id::text, 'allowed',
      request ->> 'ip', request ->> 'userAgent', request ->> 'requestId', made.details
    from made, numbered;
end $$;
call app.hand_over('app.note_connection(uuid, uuid, jsonb)', 'muster_door');
grant execute on function app.note_connection(uuid, uuid, jsonb) to muster_sign_in;

-- Returns true if a connection still authorizes its client.
create or replace function app.is_connected(connection uuid) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return exists (select 1 from public.connections c join public.orgs o on o.id = c.org_id and o.deleted_at is null
    where c.id = connection and c.revoked_at is null and c.expires_at > now());
end $$;
call app.hand_over('app.is_connected(uuid)', 'muster_door');
grant execute on function app.is_connected(uuid) to muster_sign_in;

-- Gives a connection a token for a number of seconds, up to the end of the connection. Returns the token's
-- expiry, or null if the connection has ended. An expired token is reused with a new secret. Calls that a
-- client repeats after a refresh are then recognized, and a connection needs only as many rows as it had
-- tokens at the same time.
create or replace function app.give_connection_token(connection uuid, new_token uuid, new_hash bytea, new_prefix text,
  new_last_four text, wanted text[], seconds int) returns timestamptz
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  own connections;
  ends timestamptz;
begin
  -- Locked until COMMIT. A call that ends the connection waits and then ends this token, too.
  select c.* into own from connections c where c.id = connection and c.revoked_at is null and c.expires_at > now() for share;
  if not found or not wanted <@ own.scopes or cardinality(wanted) = 0
    or not exists (select 1 from orgs o where o.id = own.org_id and o.deleted_at is null) then
    return null;
  end if;
  ends := least(now() + make_interval(secs => seconds), own.expires_at);
  update tokens t set hash = new_hash, prefix = new_prefix, last_four = new_last_four, scopes = wanted, expires_at = ends
    where t.org_id = own.org_id and t.id = (
      select k.id from tokens k
      where k.org_id = own.org_id and k.grant_id = own.id::text and k.revoked_at is null and k.expires_at < now()
      limit 1 for no key update skip locked);
  if not found then
    insert into tokens (org_id, id, member_id, agent_id, name, kind, hash, prefix, last_four, scopes, project_ids, may_read_inbox,
        expires_at, client_id, grant_id, resource)
      values (own.org_id, new_token, own.member_id, own.agent_id, own.client_name, 'oauth', new_hash, new_prefix, new_last_four, wanted,
        own.project_ids, false, ends, own.client_id, own.id::text, own.resource);
  end if;
  return ends;
end $$;
call app.hand_over('app.give_connection_token(uuid, uuid, bytea, text, text, text[], int)', 'muster_door');
grant execute on function app.give_connection_token(uuid, uuid, bytea, text, text, text[], int) to muster_sign_in;

-- Finds the token of an active connection by its hash.
create or replace function app.find_connection_token(token_hash bytea)
returns table (connection_id text, client_id text, expires_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select t.grant_id, t.client_id, t.expires_at from public.tokens t
    where t.hash = token_hash and t.kind = 'oauth' and t.revoked_at is null and t.expires_at > now();
end $$;
call app.hand_over('app.find_connection_token(bytea)', 'muster_door');
grant execute on function app.find_connection_token(bytea) to muster_sign_in;

-- Revokes a token of a connection, and a connection. Both are refused from the COMMIT on.
create or replace function app.end_connection_token(token_hash bytea) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update public.tokens set revoked_at = now() where hash = token_hash and kind = 'oauth' and revoked_at is null;
end $$;
call app.hand_over('app.end_connection_token(bytea)', 'muster_door');
grant execute on function app.end_connection_token(bytea) to muster_sign_in;

create or replace function app.end_connection(connection uuid) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update public.connections set revoked_at = now() where id = connection and revoked_at is null;
end $$;
call app.hand_over('app.end_connection(uuid)', 'muster_door');
grant execute on function app.end_connection(uuid) to muster_sign_in;

-- Revokes the tokens of a connection that has ended, in the same transaction.
create or replace function app.end_connection_tokens() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update tokens set revoked_at = now() where org_id = new.org_id and grant_id = new.id::text and revoked_at is null;
  return null;
end $$;
create or replace trigger connections_ended after update of revoked_at on connections for each row
  when (old.revoked_at is null and new.revoked_at is not null) execute function app.end_connection_tokens();
