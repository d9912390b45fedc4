-- Functions for an account before it is in an organization: it lists its invitations, joins, and creates an
-- organization. All run as muster_door.

-- Returns the pending invitations of an account's address, newest first, with the organization and the role
-- that each offers.
create or replace function app.invitations_of(account uuid)
returns table (org_id uuid, id uuid, org_name text, role text, invited_by text, expires_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select i.org_id, i.id, o.name, i.role, i.invited_by ->> 'name', i.expires_at
    from sign_in.accounts a
    join public.invitations i on lower(i.email) collate "C" = lower(a.email) collate "C"
      and i.state = 'pending' and i.expires_at > now()
    join public.orgs o on o.id = i.org_id and o.deleted_at is null
    where a.id = account
    order by i.id desc limit 50;
end $$;
call app.hand_over('app.invitations_of(uuid)', 'muster_door');
grant execute on function app.invitations_of(uuid) to muster_sign_in;

-- Checks a person who signed in and was invited, and opens the organization of the invitation, whatever its
-- state is now. The invitation must be to the address that the account proved. Raises MU401 if the session
-- has ended. Raises MU404 if this address has no such invitation or the organization no longer exists.
create or replace function app.enter_by_account(session_hash bytea, organization uuid, invitation uuid,
  out at timestamptz, out org_id uuid, out name text)
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  address text;
begin
  select now(), a.name, a.email into at, name, address
    from sign_in.sessions s join sign_in.accounts a on a.id = s.account_id
    where s.hash = session_hash and s.revoked_at is null and s.expires_at > now();
  if not found then
    raise exception 'no such session' using errcode = 'MU401';
  end if;
  select i.org_id into org_id
    from invitations i
    join orgs o on o.id = i.org_id and o.deleted_at is null
    where i.org_id = organization and i.id = invitation
      and lower(i.email) collate "C" = lower(address) collate "C";
  if not found then
    raise exception 'no such invitation' using errcode = 'MU404';
  end if;
  perform app.enter_as_system(org_id);
end $$;
call app.hand_over('app.enter_by_account(bytea, uuid, uuid)', 'muster_door');
grant execute on function app.enter_by_account(bytea, uuid, uuid) to muster_app;

-- Creates an account's own organization, which is free, with the account as its owner. Returns `made`,
-- `owner` if the account owns one already, or `taken` if another organization has the slug. Of two concurrent
-- calls of one account, only one creates it.
create or replace function app.begin_organization(account uuid, organization uuid, member uuid, org_name text, org_slug text,
  member_handle text, starting_seats int, entry uuid, request jsonb) returns text
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  own record;
begin
  perform pg_advisory_xact_lock(hashtextextended('organization of ' || account::text, 0));
  select a.email, a.name into strict own from sign_in.accounts a where a.id = account;
  if exists (select 1 from members m join orgs o on o.id = m.org_id and o.deleted_at is null
    where m.status = 'active' and m.role = 'owner'
      and (m.account_id = account or (m.account_id is null and lower(m.email) collate "C" = lower(own.email) collate "C"))) then
    return 'owner';
  end if;
  insert into orgs (id, slug, name) values (organization, org_slug, org_name) on conflict (slug) do nothing;
  if not found then return 'taken'; end if;
  insert into streams (org_id, audit) values (organization, 1);
  insert into subscriptions (org_id, plan, seats, status) values (organization, 'free', starting_seats, 'active');
  insert into members (org_id, id, email, name, handle, role, status, account_id)
    values (organization, member, own.email, own.name, member_handle, 'owner', 'active', account);
  insert into audit (org_id, seq, id, actor, member_id, operation, target, outcome, ip, user_agent, request_id)
    values (organization, 1, entry,
      jsonb_build_object('kind', 'member', 'memberId', member, 'agentId', null, 'name', own.name),
      member, 'accounts.beginOrganization', org_slug, 'allowed',
      request ->> 'ip', request ->> 'userAgent', request ->> 'requestId');
  return 'made';
end $$;
call app.hand_over('app.begin_organization(uuid, uuid, uuid, text, text, text, int, uuid, jsonb)', 'muster_door');
grant execute on function app.begin_organization(uuid, uuid, uuid, text, text, text, int, uuid, jsonb) to muster_sign_in;
