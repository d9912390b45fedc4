-- Functions for organizations on several servers, see docs/decisions/scale.md. They raise a SQLSTATE in
-- addition to those of enter.sql. MU421: the organization is on another server or about to move there; the
-- primary server knows where.

-- On the primary server: returns the placements of organizations that have one; all others are on the primary
-- server. A moved organization is opened shortly after its new placement is recorded. A caller that is
-- refused there waits until the move is over.
create or replace function app.places_of(orgs uuid[])
returns table (org_id uuid, node text, is_moving boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select p.org_id, p.node, p.moving_to is not null or p.left_from is not null from app.org_places p where p.org_id = any (orgs);
end $$;
call app.hand_over('app.places_of(uuid[])', 'muster_door');
grant execute on function app.places_of(uuid[]) to muster_app, muster_worker, muster_sign_in;

-- On another server: opens an organization for one of its jobs. Raises if the organization is on another
-- server.
create or replace function app.enter_as_system(org uuid) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if not exists (select 1 from rights_epochs e where e.org_id = org) then
    raise exception 'the organization is elsewhere' using errcode = 'MU421';
  end if;
  perform set_config('muster.org_id', org::text, true);
end $$;
call app.hand_over('app.enter_as_system(uuid)', 'muster_door');
grant execute on function app.enter_as_system(uuid) to muster_app;

-- On the primary server: claims a slug for an organization on another server; false if a different
-- organization has it. The current slug stays claimed, since the organization's own server decides about the
-- change. Earlier slugs are released.
create or replace function app.claim_slug(org uuid, wanted text, has text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('slug ' || wanted, 0));
  if exists (select 1 from orgs o where o.slug = wanted and o.id <> org) then return false; end if;
  delete from app.claimed_slugs c where c.org_id = org and c.slug not in (wanted, has);
  insert into app.claimed_slugs (slug, org_id) values (wanted, org) on conflict (slug) do nothing;
  return exists (select 1 from app.claimed_slugs c where c.slug = wanted and c.org_id = org);
end $$;
call app.hand_over('app.claim_slug(uuid, text, text)', 'muster_door');
grant execute on function app.claim_slug(uuid, text, text) to muster_app, muster_sign_in;

-- On the primary server: prevents a new organization here from taking the slug of one on another server.
create or replace function app.refuse_claimed_slug() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('slug ' || new.slug, 0));
  if exists (select 1 from app.claimed_slugs c where c.slug = new.slug and c.org_id <> new.id) then
    raise exception 'the slug is taken' using errcode = '23505', constraint = 'orgs_slug_key', table = 'orgs', schema = 'public';
  end if;
  return new;
end $$;
call app.hand_over('app.refuse_claimed_slug()', 'muster_door');
create or replace trigger orgs_slug_free before insert or update of slug on orgs for each row
  execute function app.refuse_claimed_slug();

-- Returns the advisory lock of an organization, taken to close it or to write to it while it leaves.
create or replace function app.door_of(org uuid) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended('leaves ' || org::text, 0)
$$;

-- On the primary server: removes the placement of an organization that was deleted on its server, and
-- releases its slug.
create or replace function app.forget_place(org uuid, at_node text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from app.org_places p where p.org_id = org and p.node = at_node and p.moving_to is null;
end $$;
call app.hand_over('app.forget_place(uuid, text)', 'muster_door');
grant execute on function app.forget_place(uuid, text) to muster_app;

-- On the primary server: reserves the placement of a new organization on another server; false if a different
-- organization has the slug.
create or replace function app.reserve_place(org uuid, at_node text, wanted text) returns boolean
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into app.org_places (org_id, node) values (org, at_node);
  if app.claim_slug(org, wanted, wanted) then return true; end if;
  delete from app.org_places p where p.org_id = org;
  return false;
end $$;
call app.hand_over('app.reserve_place(uuid, text, text)', 'muster_door');
grant execute on function app.reserve_place(uuid, text, text) to muster_sign_in, muster_operator;
grant execute on function app.forget_place(uuid, text) to muster_sign_in, muster_operator;
grant execute on function app.places_of(uuid[]) to muster_operator;

-- On the primary server: returns the servers that accept no new organizations.
create or replace function app.nodes_closed() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select c.node from app.closed_nodes c;
end $$;
call app.hand_over('app.nodes_closed()', 'muster_door');
grant execute on function app.nodes_closed() to muster_sign_in, muster_operator;

-- On a server that an organization leaves or has left: refuses writes to its rows once it is closed. The
-- mover that closes it takes the lock exclusively. It thus waits for running writes, and later writes wait
-- for it and then see the organization closed. Statements of the worker over all organizations skip the rows
-- and wait for nothing. A job of the organization runs on its current server.
create or replace function app.guard_leaving_row() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  org uuid := tg_argv[0]::uuid;
begin
  if current_setting('role') = 'muster_worker' and tg_op <> 'INSERT' then
    if not pg_try_advisory_xact_lock_shared(app.door_of(org))
        or exists (select 1 from app.closed_orgs c where c.org_id = org) then
      return null;
    end if;
    return case tg_op when 'DELETE' then old else new end;
  end if;
  perform pg_advisory_xact_lock_shared(app.door_of(org));
  if exists (select 1 from app.closed_orgs c where c.org_id = org) then
    raise exception 'the organization is elsewhere' using errcode = 'MU421';
  end if;
  return case tg_op when 'DELETE' then old else new end;
end $$;
call app.hand_over('app.guard_leaving_row()', 'muster_door');
