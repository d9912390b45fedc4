-- Who was assigned and has no agents could not go: `null = any ('{}')` is false and not null, so their assignment was to
-- stay with nobody. Whether somebody stands beside them is asked of the columns themselves.
create or replace function app.release_member(org uuid, member uuid) returns void
language plpgsql set search_path = pg_catalog, public as $$
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
  delete from story_selections where org_id = org and member_id = member;
  delete from devices where org_id = org and member_id = member;
end $$;
