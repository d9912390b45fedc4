-- Removes a member and their agents from assignments, and from requested reviews; verdicts stay. `member` is
-- null for agents alone. The conditions test the columns themselves, since `null = any ('{}')` is false and
-- not null.
create or replace function app.release_assignments(org uuid, member uuid, own_agents uuid[]) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  -- Locked in one order for concurrent removals: a member and an agent may share an assignment, and the other
  -- one stays assigned.
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
  delete from story_reviewers r
    where r.org_id = org and (r.member_id = member or r.agent_id = any (own_agents)) and r.verdict = 'pending';
end $$;

-- Ends everything that a member and their agents hold. The caller removes the member in the same transaction,
-- with the member's row locked. The records of their work stay. Together with the triggers below, this is the
-- only code that decides what ends.
create or replace function app.release_member(org uuid, member uuid) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  own_agents uuid[] := array(select g.id from agents g where g.org_id = org and g.member_id = member);
begin
  update connections set revoked_at = now() where org_id = org and member_id = member and revoked_at is null;
  -- Tokens of agents are tokens of their member.
  update tokens set revoked_at = now() where org_id = org and member_id = member and revoked_at is null;
  perform app.release_assignments(org, member, own_agents);
  -- Agents of a removed member are retired, too.
  update agents set retired_at = now() where org_id = org and member_id = member and retired_at is null;
  delete from team_members where org_id = org and member_id = member;
  delete from project_members where org_id = org and member_id = member;
  -- Only pending requests are deleted; decided ones stay.
  delete from access_requests where org_id = org and member_id = member and state = 'pending';
  -- Invitations by a removed member are revoked, so that they admit neither another person nor the member
  -- under another address.
  update invitations i set state = 'revoked', updated_at = now(), version = i.version + 1
    where i.org_id = org and i.state = 'pending' and (i.invited_by ->> 'memberId')::uuid = member;
  delete from story_selections where org_id = org and member_id = member;
  delete from devices where org_id = org and member_id = member;
end $$;

-- Frees the work, the leases and the locks of a member, or only those of `agent`, and withdraws offers to
-- them. Leases end as by a release, with `why` as the reason, and their locks end, too. Leases are locked
-- before executions, and executions in the order of their ids.
create or replace function app.free_work(org uuid, member uuid, agent uuid, why text) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  with freed as (
    update leases l set state = 'free', token_hash = null, holder = null, member_id = null, agent_id = null,
      run_id = null, expires_at = null
    where l.org_id = org and l.member_id = member and (agent is null or l.agent_id = agent) and l.state = 'held'
    returning l.unit_type, l.unit_id),
  chosen as materialized (
    select e.id from executions e
    where e.org_id = org and (
      (e.state in ('leased', 'waiting_input')
        and e.target_id = any (array(select f.unit_id from freed f where f.unit_type <> 'coordination')))
      or (e.state = 'offered' and ((agent is null and (e.offer ->> 'toMemberId')::uuid = member)
        or (e.offer ->> 'toAgentId')::uuid in (select g.id from agents g
          where g.org_id = org and g.member_id = member and (agent is null or g.id = agent)))))
    order by e.id for no key update),
  given_up as (
    update executions e set state = 'available', waiting_for = null, offer = null, updated_at = now(),
      version = e.version + 1, last_event_seq = e.last_event_seq + 1
    from chosen c where e.org_id = org and e.id = c.id
    returning e.id, e.last_event_seq),
  unlocked as (
    delete from locks k using given_up u where k.org_id = org and k.execution_id = u.id)
  insert into execution_events (org_id, execution_id, seq, kind, actor, data)
    select org, u.id, u.last_event_seq, 'released',
      '{"kind": "system", "memberId": null, "agentId": null, "name": "system"}', jsonb_build_object('reason', why)
    from given_up u;
  delete from locks k where k.org_id = org and k.member_id = member and (agent is null or k.agent_id = agent);
end $$;

-- Cancels the runs of a member, or only those of `agent`.
create or replace function app.cancel_runs(org uuid, member uuid, agent uuid, message text) returns void
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  moment constant timestamptz := clock_timestamp();
  event constant jsonb := jsonb_build_object('kind', 'canceled', 'message', message, 'data', null,
    'at', to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
begin
  update agent_runs r set state = 'canceled', ended_at = moment, last_seen_at = moment, last_event = event
    where r.org_id = org and r.member_id = member and (agent is null or r.agent_id = agent) and r.ended_at is null;
end $$;

-- Releases the work of a removed member in the same transaction: leases and locks are freed and runs end, so
-- that others can take over.
create or replace function app.release_work() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  perform app.free_work(new.org_id, new.id, null, 'member removed');
  return null;
end $$;
create or replace trigger members_release_work after update of status on members for each row
  when (new.status = 'removed') execute function app.release_work();

create or replace function app.end_runs() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  perform app.cancel_runs(new.org_id, new.id, null, 'The member was removed.');
  return null;
end $$;
create or replace trigger members_end_runs after update of status on members for each row
  when (new.status = 'removed') execute function app.end_runs();
