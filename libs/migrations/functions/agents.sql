-- Returns the name itself if no member and no agent of the organization has it, and otherwise the name with the first
-- free number: `-2`, `-3` and so on. So an @ mention means one of them. Holds a lock until the transaction ends, so that
-- no other transaction gives the same name. `longest` is the maximum length of the result.
create or replace function app.free_name(org uuid, wanted text, longest int) returns text
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
declare
  candidate text := wanted;
  number int := 1;
begin
  perform pg_advisory_xact_lock(hashtextextended('names ' || org::text, 0));
  -- These statements see what was committed during the wait for the lock.
  while exists (select 1 from members m where m.org_id = org and m.handle = candidate)
      or exists (select 1 from agents a where a.org_id = org and a.slug = candidate) loop
    number := number + 1;
    candidate := rtrim(left(wanted, longest - 1 - length(number::text)), '-') || '-' || number;
  end loop;
  return candidate;
end $$;

-- Gives a new agent a slug, derived from its name if none is given. A given slug that another agent of the member has is
-- refused by the index agents_slug.
create or replace function app.name_agent() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  plain text := lower(regexp_replace(normalize(new.name, NFD), '[\u0300-\u036f]', '', 'g'));
begin
  if not exists (select 1 from agents a where a.org_id = new.org_id and a.member_id = new.member_id and a.slug = new.slug) then
    new.slug := app.free_name(new.org_id, coalesce(new.slug,
      nullif(trim(both '-' from left(trim(both '-' from regexp_replace(plain, '[^a-z0-9]+', '-', 'g')), 30)), ''), 'agent'), 40);
  end if;
  return new;
end $$;
create or replace trigger agents_named before insert on agents for each row execute function app.name_agent();

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
