-- Lets one transaction at a time give a name that @ mentions use in the organization.
create or replace function app.lock_names(org uuid) returns void
language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended('names ' || org::text, 0))
$$;

-- Gives a new agent a slug that no member and no other agent of the organization has, so that @name means one of
-- them. Without a slug it is derived from the name. If the slug is taken, the first free number is appended; a given
-- slug that another agent of the member has is refused by agents_slug. The lock serializes new names of the
-- organization, of members too (libs/organizations/src/data/members.ts).
create or replace function app.name_agent() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  plain text := lower(regexp_replace(normalize(new.name, NFD), '[\u0300-\u036f]', '', 'g'));
  wanted text := coalesce(new.slug,
    nullif(trim(both '-' from left(trim(both '-' from regexp_replace(plain, '[^a-z0-9]+', '-', 'g')), 30)), ''), 'agent');
  number int := 1;
begin
  perform app.lock_names(new.org_id);
  if exists (select 1 from agents a where a.org_id = new.org_id and a.member_id = new.member_id and a.slug = new.slug) then
    return new;
  end if;
  new.slug := wanted;
  while exists (select 1 from members m where m.org_id = new.org_id and m.handle = new.slug)
      or exists (select 1 from agents a where a.org_id = new.org_id and a.slug = new.slug) loop
    number := number + 1;
    new.slug := rtrim(left(wanted, 39 - length(number::text)), '-') || '-' || number;
  end loop;
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
