-- Functions for the sessions of people: how a session enters an organization, and what calls of an
-- organization see of accounts. All run as muster_door, the only role that sees both sides.

-- Returns true if no account has the membership, or only the account of an earlier address. The caller
-- checks that the account that wants it has the address.
create or replace function app.may_claim(membership members) returns boolean
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return membership.account_id is null or exists (select 1 from sign_in.accounts o
    where o.id = membership.account_id and lower(o.email) <> lower(membership.email));
end $$;
call app.hand_over('app.may_claim(members)', 'muster_door');

-- Finds the membership of an account in an organization. A membership created for the account's address is
-- bound to the account now. This is safe: the address was proven when the account was created, and the
-- membership was created for that address. If an identity provider gave the membership another address
-- (SCIM), it is bound again to the account of that address. All tokens and connections of the membership then
-- end, because the person of the earlier account may have them.
create or replace function app.own_membership(account uuid, organization uuid) returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  own uuid;
  earlier_account uuid;
begin
  select m.id into own from members m
    where m.org_id = organization and m.status = 'active' and m.account_id = account;
  if found then return own; end if;
  select m.id, m.account_id into own, earlier_account from members m
    join sign_in.accounts a on a.id = account and lower(m.email) = lower(a.email)
    where m.org_id = organization and m.status = 'active' and app.may_claim(m)
    for no key update of m;
  if found then
    update members m set account_id = account where m.org_id = organization and m.id = own;
    if earlier_account <> account then
      update connections set revoked_at = now()
        where org_id = organization and member_id = own and revoked_at is null;
      update tokens set revoked_at = now()
        where org_id = organization and member_id = own and revoked_at is null;
    end if;
    return own;
  end if;
  -- A concurrent call of the same person may have been faster.
  select m.id into own from members m
    where m.org_id = organization and m.status = 'active' and m.account_id = account;
  return own;
end $$;
call app.hand_over('app.own_membership(uuid, uuid)', 'muster_door');

-- Returns the identity of a session in an organization, like app.identify, together with the session. Returns
-- no row if the session has ended or its person is not a member. Raises MU403 if the session lacks a proof
-- that the organization requires. The token of the session is created at its first use there, and again after
-- its person has returned. `hash` covers the session's secret and the organization's id, so no other session
-- can have it. A session that ended with a deactivation stays ended after the activation (SCIM): its person
-- signs in again.
create or replace function app.identify_session(session_hash bytea, organization uuid, wanted_hash bytea, new_token uuid)
returns table (token_id uuid, org_id uuid, member_id uuid, agent_id uuid, scopes text[], project_ids uuid[],
  may_read_inbox boolean, member_name text, agent_name text, session_id uuid, proven_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
declare
  own record;
  member uuid;
begin
  select s.id, s.account_id, s.expires_at, s.proven_at, s.proofs into own from sign_in.sessions s
    where s.hash = session_hash and s.revoked_at is null and s.expires_at > now();
  if not found or not exists (select 1 from orgs o where o.id = organization and o.deleted_at is null) then return; end if;
  member := app.own_membership(own.account_id, organization);
  if member is null or exists (select 1 from tokens t join members m on m.org_id = t.org_id and m.id = t.member_id
      where t.hash = wanted_hash and m.org_id = organization and m.id = member and t.revoked_at <= m.activated_at) then
    return;
  end if;
  if exists (select 1 from members m join orgs o on o.id = m.org_id
      where m.org_id = organization and m.id = member and app.lacks_proof(o.policy, m.role, own.proofs)) then
    raise exception 'a proof is missing' using errcode = 'MU403', detail = 'session';
  end if;
  if not exists (select 1 from tokens t
      where t.hash = wanted_hash and t.member_id = member and t.revoked_at is null and t.expires_at > now()) then
    -- The token of an ended membership stays for the trail and gives up its hash. It is not revoked if it was
    -- created while the membership ended.
    update tokens t set hash = sha256(uuid_send(gen_random_uuid()))
      where t.hash = wanted_hash and (t.member_id <> member or t.revoked_at is not null);
    insert into tokens as t (org_id, id, member_id, name, kind, hash, last_four, scopes, expires_at, session_id)
      values (organization, new_token, member, 'session', 'session', wanted_hash, '', '{admin}', own.expires_at, own.id)
      on conflict (hash) do update set expires_at = excluded.expires_at where t.revoked_at is null;
  end if;
  return query select i.*, own.id, own.proven_at from app.identify(wanted_hash) i;
end $$;
call app.hand_over('app.identify_session(bytea, uuid, bytea, uuid)', 'muster_door');
grant execute on function app.identify_session(bytea, uuid, bytea, uuid) to muster_app;

-- Revokes all tokens of an ended session in the same transaction.
create or replace function app.end_session_tokens() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update tokens t set revoked_at = now()
    from (select k.org_id, k.id from tokens k where k.session_id = new.id and k.revoked_at is null
      order by k.org_id for no key update) ending
    where t.org_id = ending.org_id and t.id = ending.id;
  return null;
end $$;
call app.hand_over('app.end_session_tokens()', 'muster_door');
create or replace trigger sessions_ended after update of revoked_at on sign_in.sessions for each row
  when (old.revoked_at is null and new.revoked_at is not null) execute function app.end_session_tokens();
-- On servers other than the primary one: a session with a new secret ends the tokens of the old one.
create or replace trigger sessions_renewed after update of hash on sign_in.sessions for each row
  when (old.hash is distinct from new.hash and coalesce(current_setting('muster.from_peer', true), '') <> '')
  execute function app.end_session_tokens();

-- Gives a session a new secret, and its tokens the matching hashes.
create or replace function app.renew_session_tokens(session uuid, organizations uuid[], hashes bytea[]) returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update public.tokens t set hash = renewed.hash
  from unnest(organizations, hashes) renewed (org_id, hash)
  where t.session_id = session and t.org_id = renewed.org_id and t.revoked_at is null;
end $$;
call app.hand_over('app.renew_session_tokens(uuid, uuid[], bytea[])', 'muster_door');
grant execute on function app.renew_session_tokens(uuid, uuid[], bytea[]) to muster_sign_in;

-- Returns the organizations in which a session has a token.
create or replace function app.organizations_of_session(session uuid) returns setof uuid
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select t.org_id from public.tokens t where t.session_id = session and t.revoked_at is null;
end $$;
call app.hand_over('app.organizations_of_session(uuid)', 'muster_door');
grant execute on function app.organizations_of_session(uuid) to muster_sign_in;

-- Returns the organizations of an account by name, including those whose membership was created for its
-- address.
create or replace function app.organizations_of(account uuid)
returns table (org_id uuid, slug text, name text, member_id uuid, role text)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select o.id, o.slug, o.name, m.id, m.role
    from sign_in.accounts a
    join public.members m on m.status = 'active'
      and (m.account_id = a.id or (lower(m.email) collate "C" = lower(a.email) collate "C" and app.may_claim(m)))
    join public.orgs o on o.id = m.org_id and o.deleted_at is null
    where a.id = account
    order by o.name, o.id;
end $$;
call app.hand_over('app.organizations_of(uuid)', 'muster_door');
grant execute on function app.organizations_of(uuid) to muster_sign_in;

-- Returns what all organizations know of an address: the name of a member with it, and if it is invited.
create or replace function app.known_address(address text, out member_name text, out is_invited boolean)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  member_name := (select m.name from public.members m join public.orgs o on o.id = m.org_id and o.deleted_at is null
      where m.status = 'active' and lower(m.email) collate "C" = lower(address) collate "C" order by m.created_at limit 1);
  is_invited := exists (select 1 from public.invitations i join public.orgs o on o.id = i.org_id and o.deleted_at is null
      where i.state = 'pending' and i.expires_at > now() and lower(i.email) collate "C" = lower(address) collate "C");
end $$;
call app.hand_over('app.known_address(text)', 'muster_door');
grant execute on function app.known_address(text) to muster_sign_in;

-- Returns the account of a member of this transaction's organization.
create or replace function app.account_of(member uuid) returns uuid
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return (select m.account_id from public.members m where m.org_id = app.org_id() and m.id = member and m.status = 'active');
end $$;
call app.hand_over('app.account_of(uuid)', 'muster_door');

-- Lists the active sessions of a member's account, newest first. Sessions in other organizations are
-- included, since they belong to the person. `own_token` is the caller's token.
create or replace function app.sessions_of(member uuid, own_token uuid, before_id uuid, most int)
returns table (id uuid, is_current boolean, user_agent text, ip text, created_at timestamptz, last_seen_at timestamptz,
  expires_at timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select s.id, exists (select 1 from public.tokens t where t.org_id = app.org_id() and t.id = own_token and t.session_id = s.id),
      s.user_agent, s.ip, s.created_at, s.last_seen_at, s.expires_at
    from sign_in.sessions s
    where s.account_id = app.account_of(member) and s.revoked_at is null and s.expires_at > now()
      and (before_id is null or s.id < before_id)
    order by s.id desc limit most;
end $$;
call app.hand_over('app.sessions_of(uuid, uuid, uuid, int)', 'muster_door');
grant execute on function app.sessions_of(uuid, uuid, uuid, int) to muster_app;

-- Ends sessions of a member's account: the given one, or all except the caller's. Returns the number of
-- sessions ended; null if the given one does not belong to the person.
create or replace function app.end_sessions(member uuid, own_token uuid, session uuid) returns int
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  ended int;
begin
  if session is not null
    and not exists (select 1 from sign_in.sessions s where s.id = session and s.account_id = app.account_of(member)) then
    return null;
  end if;
  update sign_in.sessions s set revoked_at = now()
    from (select k.id from sign_in.sessions k
      where k.account_id = app.account_of(member) and k.revoked_at is null and k.expires_at > now()
        and case when session is not null then k.id = session
          else not exists (select 1 from tokens t where t.org_id = app.org_id() and t.id = own_token and t.session_id = k.id) end
      order by k.id for no key update) ending
    where s.id = ending.id;
  get diagnostics ended = row_count;
  return ended;
end $$;
call app.hand_over('app.end_sessions(uuid, uuid, uuid)', 'muster_door');
grant execute on function app.end_sessions(uuid, uuid, uuid) to muster_app;
