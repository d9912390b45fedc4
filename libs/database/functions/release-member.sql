-- Ends what a member, and the member's agents, hold: whoever removes a member does it in the same transaction, with
-- the member's row locked. What they did stays. The only statement of what goes, with the triggers below. Whether
-- somebody stands beside them is asked of the columns themselves: `null = any ('{}')` is false and not null.
create or replace function app.release_member(org uuid, member uuid) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  own_agents uuid[] := array(select g.id from agents g where g.org_id = org and g.member_id = member);
begin
  -- A token of an agent is a token of its member.
  update tokens set revoked_at = now() where org_id = org and member_id = member and revoked_at is null;
  -- Locked in one order, for two removals that meet: a member and an agent stand side by side, and the other one stays.
  perform from assignments a
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents))
    order by a.target_type, a.target_id for update;
  delete from assignments a
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents))
      and (a.member_id is null or a.member_id = member) and (a.agent_id is null or a.agent_id = any (own_agents));
  update assignments a
    set member_id = nullif(a.member_id, member),
      agent_id = case when a.agent_id = any (own_agents) then null else a.agent_id end,
      updated_at = now()
    where a.org_id = org and (a.member_id = member or a.agent_id = any (own_agents));
  delete from team_members where org_id = org and member_id = member;
  delete from project_members where org_id = org and member_id = member;
  -- A request or a review that nobody waits for any more; what was decided stays.
  delete from access_requests where org_id = org and member_id = member and state = 'pending';
  delete from story_reviewers r
    where r.org_id = org and (r.member_id = member or r.agent_id = any (own_agents)) and r.verdict = 'pending';
  -- Whoever was let go lets nobody in: not somebody else, nor themselves under another address.
  update invitations i set state = 'revoked', updated_at = now(), version = i.version + 1
    where i.org_id = org and i.state = 'pending' and (i.invited_by ->> 'memberId')::uuid = member;
  delete from story_selections where org_id = org and member_id = member;
  delete from devices where org_id = org and member_id = member;
end $$;

-- Whoever is a member no more holds nothing: leases and locks are freed in the transaction that removes them, and the
-- work is there for others.
create or replace function app.release_work() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  -- Work that they hold, and work that is offered to them or to an agent of theirs: it is given up as by a release, and
  -- its locks go with it. Leases come before executions, those by their ids.
  with freed as (
    update leases l set state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null,
      run_id = null, expires_at = null
    where l.org_id = new.org_id and l.member_id = new.id and l.state = 'held'
    returning l.unit_type, l.unit_id),
  chosen as materialized (
    select e.id from executions e
    where e.org_id = new.org_id and (
      (e.state in ('leased', 'waiting_input')
        and e.target_id = any (array(select f.unit_id from freed f where f.unit_type <> 'coordination')))
      or (e.state = 'offered' and ((e.offer ->> 'toMemberId')::uuid = new.id or (e.offer ->> 'toAgentId')::uuid in
        (select g.id from agents g where g.org_id = new.org_id and g.member_id = new.id))))
    order by e.id for no key update),
  given_up as (
    update executions e set state = 'available', waiting_for = null, offer = null, updated_at = now(),
      version = e.version + 1, last_event_seq = e.last_event_seq + 1
    from chosen c where e.org_id = new.org_id and e.id = c.id
    returning e.id, e.last_event_seq),
  unlocked as (
    delete from locks k using given_up u where k.org_id = new.org_id and k.execution_id = u.id)
  insert into execution_events (org_id, execution_id, seq, kind, actor, data)
    select new.org_id, u.id, u.last_event_seq, 'released',
      '{"kind": "system", "memberId": null, "agentId": null, "name": "system"}', '{"reason": "member removed"}'
    from given_up u;
  delete from locks where org_id = new.org_id and member_id = new.id;
  return null;
end $$;
create or replace trigger members_release_work after update of status on members for each row
  when (new.status = 'removed') execute function app.release_work();

-- Runs of whoever is a member no more are over, in the transaction that removes them.
create or replace function app.end_runs() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update agent_runs r set state = 'canceled', ended_at = clock_timestamp(), last_seen_at = clock_timestamp(),
    last_event = jsonb_build_object('kind', 'canceled', 'message', 'The member was removed.', 'data', null,
      'at', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  where r.org_id = new.org_id and r.member_id = new.id and r.ended_at is null;
  return null;
end $$;
create or replace trigger members_end_runs after update of status on members for each row
  when (new.status = 'removed') execute function app.end_runs();
