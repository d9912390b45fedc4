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

-- Returns the response of the agents that were asked to work on these unfinished stories; no row while others have the
-- work. An agent was asked if the story is assigned to it, or else if a contributing member mentioned it last since the
-- last completed work. This is a function because a statement pays for each table that it names, and most stories ask
-- no agent.
create or replace function app.agent_responses(org uuid, story_ids uuid[]) returns table (story_id uuid, response jsonb)
language plpgsql stable set search_path = pg_catalog, public, pg_temp as $$
begin
  if cardinality(story_ids) = 0 then return; end if;
  return query select q.id, jsonb_build_object('agent', jsonb_build_object('id', g.id, 'name', g.name), 'state', case
      when l.agent_id = g.id then 'picked_up'
      when i.listens_until is null or i.listens_until <= clock_timestamp() then 'no_runner'
      when exists (select 1 from leases b where b.org_id = org and b.agent_id = g.id and b.state = 'held'
        and b.expires_at > clock_timestamp()) then 'busy'
      else 'listening' end)
  from stories q
  join agents g on g.org_id = org and g.retired_at is null and g.id = (select coalesce((
    select a.agent_id from assignments a where a.org_id = org and a.target_type = 'story' and a.target_id = q.id), (
    select c.agent_mentions[1] from comments c
      join projects p on p.org_id = org and p.id = q.project_id
      join members m on m.org_id = org and m.id = c.author_member_id and m.status = 'active'
    where c.org_id = org and c.story_id = q.id and c.agent_mentions <> '{}' and c.author ->> 'agentId' is null
      and app.project_rank(org, p.id, p.visibility, m.id, m.role) >= 2
      and not exists (select 1 from executions x where x.org_id = org and x.target_type = 'story' and x.target_id = q.id
        and x.completed_at >= c.created_at)
    order by c.id desc limit 1)))
  left join inbox_streams i on i.org_id = org and i.recipient_id = g.id
  left join executions e on e.org_id = org and e.target_type = 'story' and e.target_id = q.id and e.state <> 'completed'
  left join leases l on l.org_id = org and l.unit_type = 'story' and l.unit_id = e.target_id and l.state = 'held'
  where q.org_id = org and q.id = any (story_ids) and q.status not in ('done', 'canceled')
    and (e.id is null or e.state = 'available' or l.agent_id = g.id);
end $$;
