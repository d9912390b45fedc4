-- Functions for the OpenID Connect issuers of organizations, which sign-in uses. All run as muster_door,
-- since sign-in itself reads no data of organizations.

-- Returns the issuers of a domain, each with the organization that configured it.
create or replace function app.identity_providers_of(wanted text)
returns table (id uuid, name text, org_id uuid, org_name text)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select p.id, p.name, o.id, o.name
    from public.identity_provider_domains d
    join public.identity_providers p on p.org_id = d.org_id and p.id = d.provider_id
    join public.orgs o on o.id = p.org_id and o.deleted_at is null
    where d.domain = lower(wanted) collate "C" and d.proven_at is not null
    order by o.name, p.name, p.id limit 20;
end $$;
call app.hand_over('app.identity_providers_of(text)', 'muster_door');
grant execute on function app.identity_providers_of(text) to muster_sign_in;

-- Returns the configuration for signing in at an issuer; no row if it serves no domain. `organization_key` is
-- half of the key that decrypts the secret.
create or replace function app.find_identity_provider(provider uuid)
returns table (id uuid, org_id uuid, name text, issuer text, client_id text, secret bytea, organization_key bytea,
  trusts_addresses boolean, domains text[])
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select p.id, p.org_id, p.name, p.issuer, p.client_id, p.secret, s.cursor_key, p.trusts_addresses, proven.domains
    from public.identity_providers p
    join public.orgs o on o.id = p.org_id and o.deleted_at is null
    join public.streams s on s.org_id = p.org_id
    cross join lateral (select array_agg(d.domain order by d.domain) as domains from public.identity_provider_domains d
      where d.org_id = p.org_id and d.provider_id = p.id and d.proven_at is not null) proven
    where p.id = provider and proven.domains is not null;
end $$;
call app.hand_over('app.find_identity_provider(uuid)', 'muster_door');
grant execute on function app.find_identity_provider(uuid) to muster_sign_in;

-- Returns true if sessions with these proofs may not enter an organization with this policy, as a member of
-- this role. The owner is exempt. Otherwise an unavailable issuer would lock out everyone who could change
-- the policy.
create or replace function app.lacks_proof(rules jsonb, role text, proofs text[]) returns boolean
language sql immutable parallel safe set search_path = pg_catalog, public, pg_temp as $$
  select role <> 'owner' and (
    (coalesce((rules ->> 'requirePasskey')::boolean, false) and not 'passkey' = any (proofs))
    or (jsonb_array_length(coalesce(rules -> 'allowedIdentityProviders', '[]')) > 0
      and not exists (select 1 from jsonb_array_elements_text(rules -> 'allowedIdentityProviders') allowed
        where 'provider:' || allowed = any (proofs))))
$$;

-- Revokes the tokens of sessions that lack a proof which the policy of this transaction's organization now
-- requires.
create or replace function app.end_unproven_sessions() returns void
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update public.tokens t set revoked_at = now()
  from public.members m, public.orgs o, sign_in.sessions s
  where t.org_id = app.org_id() and t.kind = 'session' and t.revoked_at is null
    and m.org_id = t.org_id and m.id = t.member_id and o.id = t.org_id and s.id = t.session_id
    and app.lacks_proof(o.policy, m.role, s.proofs);
end $$;
call app.hand_over('app.end_unproven_sessions()', 'muster_door');
grant execute on function app.end_unproven_sessions() to muster_app;

-- Returns the proofs that an organization requires from sessions of an account that is a member: the issuers,
-- of which one must have vouched for the person, and if a passkey is required. Returns no row for any other
-- account.
create or replace function app.asked_proofs(account uuid, organization uuid)
returns table (org_name text, requires_passkey boolean, provider_id uuid, provider_name text)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select o.org_name, coalesce((r.policy ->> 'requirePasskey')::boolean, false), p.id, p.name
    from (select org_id, name as org_name from app.organizations_of(account)) o
    join public.orgs r on r.id = o.org_id
    left join public.identity_providers p on p.org_id = o.org_id
      and coalesce(r.policy -> 'allowedIdentityProviders', '[]') ? p.id::text
    where o.org_id = organization
    order by p.name, p.id;
end $$;
call app.hand_over('app.asked_proofs(uuid, uuid)', 'muster_door');
grant execute on function app.asked_proofs(uuid, uuid) to muster_sign_in;
