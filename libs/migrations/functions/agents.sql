-- Names an agent in commands if no name was given. The name is in lower case. If another agent of the member
-- has that name, the end of the id is appended.
create or replace function app.name_agent() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  plain text := lower(regexp_replace(normalize(new.name, NFD), '[\u0300-\u036f]', '', 'g'));
begin
  new.slug := coalesce(nullif(trim(both '-' from left(trim(both '-' from regexp_replace(plain, '[^a-z0-9]+', '-', 'g')), 30)), ''), 'agent');
  if exists (select 1 from agents a where a.org_id = new.org_id and a.member_id = new.member_id and a.slug = new.slug) then
    new.slug := new.slug || '-' || right(new.id::text, 6);
  end if;
  return new;
end $$;
create or replace trigger agents_named before insert on agents for each row
  when (new.slug is null) execute function app.name_agent();

-- Releases everything that a retired agent holds and revokes its tokens, in the transaction that retires it,
-- with its row locked. A call that claims work for the agent locks that row, too. The records of its work
-- stay, under its name.
create or replace function app.release_agent() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update connections set revoked_at = now() where org_id = new.org_id and agent_id = new.id and revoked_at is null;
  update tokens set revoked_at = now() where org_id = new.org_id and agent_id = new.id and revoked_at is null;
  perform app.release_assignments(new.org_id, null, array[new.id]);
  perform app.free_work(new.org_id, new.member_id, new.id, 'agent retired');
  perform app.cancel_runs(new.org_id, new.member_id, new.id, 'The agent was retired.');
  return null;
end $$;
create or replace trigger agents_retired after update of retired_at on agents for each row
  when (old.retired_at is null and new.retired_at is not null) execute function app.release_agent();
