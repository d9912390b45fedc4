-- What an agent is called in commands, where nothing else was said: its name in small letters, and where another agent of the
-- member is called so, the end of its id besides.
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

-- An agent that is retired holds nothing from then on, and its tokens let no one in: in the transaction that retires it, with
-- its row locked. Who claims work for it locks that row as well. What it did stays, under its name.
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
