-- Functions for the passkeys of a person. The sign-in pages identify the account, and calls of an
-- organization identify a member. Passkeys belong to the person in all of their organizations. All functions
-- run as muster_door.

create or replace function app.passkeys_of_account(account uuid, after_id uuid, most int)
returns table (id uuid, name text, is_synced boolean, created_at timestamptz, last_used_at timestamptz)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select p.id, p.name, p.is_synced, p.created_at, p.last_used_at
  from sign_in.passkeys p
  where p.account_id = account and (after_id is null or p.id > after_id)
  order by p.id limit most
$$;
call app.hand_over('app.passkeys_of_account(uuid, uuid, int)', 'muster_door');
grant execute on function app.passkeys_of_account(uuid, uuid, int) to muster_sign_in;

-- Renames a passkey; no row if it does not belong to the account.
create or replace function app.rename_passkey_of_account(account uuid, passkey uuid, new_name text)
returns table (id uuid, name text, is_synced boolean, created_at timestamptz, last_used_at timestamptz)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update sign_in.passkeys p set name = new_name
  where p.id = passkey and p.account_id = account
  returning p.id, p.name, p.is_synced, p.created_at, p.last_used_at
$$;
call app.hand_over('app.rename_passkey_of_account(uuid, uuid, text)', 'muster_door');
grant execute on function app.rename_passkey_of_account(uuid, uuid, text) to muster_sign_in;

-- Deletes a passkey and returns its name; no row if it does not belong to the account.
create or replace function app.delete_passkey_of_account(account uuid, passkey uuid) returns table (name text)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  delete from sign_in.passkeys p where p.id = passkey and p.account_id = account returning p.name
$$;
call app.hand_over('app.delete_passkey_of_account(uuid, uuid)', 'muster_door');
grant execute on function app.delete_passkey_of_account(uuid, uuid) to muster_sign_in;

create or replace function app.passkeys_of(member uuid, after_id uuid, most int)
returns table (id uuid, name text, is_synced boolean, created_at timestamptz, last_used_at timestamptz)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select k.* from app.passkeys_of_account(app.account_of(member), after_id, most) k
$$;
call app.hand_over('app.passkeys_of(uuid, uuid, int)', 'muster_door');
grant execute on function app.passkeys_of(uuid, uuid, int) to muster_app;

create or replace function app.rename_passkey(member uuid, passkey uuid, new_name text)
returns table (id uuid, name text, is_synced boolean, created_at timestamptz, last_used_at timestamptz)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  select k.* from app.rename_passkey_of_account(app.account_of(member), passkey, new_name) k
$$;
call app.hand_over('app.rename_passkey(uuid, uuid, text)', 'muster_door');
grant execute on function app.rename_passkey(uuid, uuid, text) to muster_app;

create or replace function app.delete_passkey(member uuid, passkey uuid) returns table (name text)
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  select k.* from app.delete_passkey_of_account(app.account_of(member), passkey) k
$$;
call app.hand_over('app.delete_passkey(uuid, uuid)', 'muster_door');
grant execute on function app.delete_passkey(uuid, uuid) to muster_app;

-- Returns the address of a member's account, in the organization of this transaction; null for a member who
-- never signed in.
create or replace function app.address_of_account(member uuid) returns text
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select a.email from sign_in.accounts a where a.id = app.account_of(member)
$$;
call app.hand_over('app.address_of_account(uuid)', 'muster_door');
grant execute on function app.address_of_account(uuid) to muster_app;
