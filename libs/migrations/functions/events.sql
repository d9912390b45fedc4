-- Returns the activity positions of organizations, for callers that wait for events. It returns only numbers,
-- so any process may call it. `moves` increases with every write that leaves anything in the trail.
create or replace function app.organization_positions(orgs uuid[])
returns table (org_id uuid, activity bigint, moves bigint)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select s.org_id, s.activity, s.activity + s.audit from public.streams s where s.org_id = any (orgs);
end $$;
call app.hand_over('app.organization_positions(uuid[])', 'muster_door');
grant execute on function app.organization_positions(uuid[]) to muster_app;

-- Returns a cursor for each follower of an inbox. It changes when a notification arrives or is read, or when
-- rights in the organization end.
create or replace function app.inbox_positions(orgs uuid[], members uuid[])
returns table (nth bigint, place text)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select w.nth, concat(
      (select sum(c.changes) from public.notification_counts c where c.org_id = w.org_id and c.member_id = w.member_id), ' ',
      (select e.epoch from public.rights_epochs e where e.org_id = w.org_id))
    from unnest(orgs, members) with ordinality as w (org_id, member_id, nth);
end $$;
call app.hand_over('app.inbox_positions(uuid[], uuid[])', 'muster_door');
grant execute on function app.inbox_positions(uuid[], uuid[]) to muster_app;

-- Selects the waiting callers that may see an event between their own position and the given activity
-- position. It only answers yes or no; each caller reads the event itself. `kinds` are arrays, as text. The policy
-- applies to every project, so a change of it also counts for callers that wait for events of one project and name it.
create or replace function app.activity_seen(orgs uuid[], members uuid[], tokens uuid[], afters bigint[], upto bigint[],
  projects uuid[], kinds text[])
returns table (nth bigint)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
#variable_conflict use_column
begin
  return query
    select w.nth
    from unnest(orgs, members, tokens, afters, upto, projects, kinds)
      with ordinality as w (org_id, member_id, token_id, after, upto, project_id, kinds, nth)
    where exists (
      select 1 from public.activity e
      where e.org_id = w.org_id and e.seq > w.after and e.seq <= w.upto
        and (w.project_id is null or e.project_id = w.project_id
          or (e.kind = 'policy.updated' and w.kinds is not null))
        and (w.kinds is null or e.kind = any (w.kinds::text[]))
        and (e.project_id is null
          or exists (select 1 from app.visible_projects(w.org_id, w.member_id, w.token_id) v where v.project_id = e.project_id)
          -- Owners and admins also see the remaining events of deleted projects.
          or exists (select 1 from public.members m join public.tokens t on t.org_id = m.org_id and t.id = w.token_id
            where m.org_id = w.org_id and m.id = w.member_id and m.role in ('owner', 'admin') and t.project_ids is null)));
end $$;
call app.hand_over('app.activity_seen(uuid[], uuid[], uuid[], bigint[], bigint[], uuid[], text[])', 'muster_door');
grant execute on function app.activity_seen(uuid[], uuid[], uuid[], bigint[], bigint[], uuid[], text[]) to muster_app;
