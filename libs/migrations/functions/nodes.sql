-- Organizations on servers of their own, see docs/decisions/scale.md. SQLSTATE beside those of enter.sql: MU421 the organization
-- is elsewhere, or about to be: home says where.

-- At home: where organizations are that have a place; the others are here. One that was moved opens there a moment after
-- that was said, so a caller that is refused there waits until its move is over.
create or replace function app.places_of(orgs uuid[])
returns table (org_id uuid, node text, is_moving boolean)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select p.org_id, p.node, p.moving_to is not null or p.left_from is not null from app.org_places p where p.org_id = any (orgs);
end $$;
call app.hand_over('app.places_of(uuid[])', 'muster_door');
grant execute on function app.places_of(uuid[]) to muster_app, muster_worker, muster_sign_in;

-- On a node: opens an organization for a job of it, or raises where the organization is elsewhere.
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

-- At home: a slug for an organization on a node; false where it is another one's. It keeps the one that it has, since whether it
-- comes to have the other is decided there; those that it had before are free.
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

-- At home: an organization that comes to be here has no slug of one on a node.
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

-- What stands for an organization where it is closed, or written to while it leaves.
create or replace function app.door_of(org uuid) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended('leaves ' || org::text, 0)
$$;

-- At home: an organization that was removed from the node that it was at has no place any more, and its slug is free.
create or replace function app.forget_place(org uuid, at_node text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from app.org_places p where p.org_id = org and p.node = at_node and p.moving_to is null;
end $$;
call app.hand_over('app.forget_place(uuid, text)', 'muster_door');
grant execute on function app.forget_place(uuid, text) to muster_app;

-- At home: a place for an organization that comes to be at a node; false where the slug is another one's.
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

-- At home: the servers that take no new organizations.
create or replace function app.nodes_closed() returns setof text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  return query select c.node from app.closed_nodes c;
end $$;
call app.hand_over('app.nodes_closed()', 'muster_door');
grant execute on function app.nodes_closed() to muster_sign_in, muster_operator;

-- On a server that an organization leaves or has left: once the organization is closed, refuses those who write its rows. The mover that
-- closes it takes the lock for itself: until then it waits for those who write, and afterwards they wait for it, and see it closed.
-- What the worker does to all organizations at once leaves the rows alone and waits for nobody; a job of the organization is done
-- where it is.
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
