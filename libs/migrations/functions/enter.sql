-- The ways in. SQLSTATEs of class MU: MU401 not let in, MU403 let in but may not, MU404 nothing there to be seen, MU409 the
-- token reaches another part now than the process believes, which is to ask app.identify again, MU421 the organization is on
-- another server (nodes.sql): where its rights have no epoch.
-- The detail of an MU403 says `organization` or `project` with the rank that is needed and the role that is held, or
-- where an operator's pass is asked for, the scopes of the token.

-- Who a token is, for the process that holds it; null columns where there is none. Identity may be remembered
-- for a while, since app.enter checks again inside each transaction.
create or replace function app.identify(token_hash bytea)
returns table (token_id uuid, org_id uuid, member_id uuid, agent_id uuid, scopes text[], project_ids uuid[],
  may_read_inbox boolean, member_name text, agent_name text)
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select t.id, t.org_id, t.member_id, t.agent_id, t.scopes, t.project_ids, t.agent_id is null or t.may_read_inbox,
    m.name, a.name
  from public.tokens t
  join public.members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
  join public.orgs o on o.id = t.org_id and o.deleted_at is null
  left join public.agents a on a.org_id = t.org_id and a.id = t.agent_id
  where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
$$;
call app.hand_over('app.identify(bytea)', 'muster_door');
grant execute on function app.identify(bytea) to muster_app;

-- The resource that a client's token was granted for by OAuth (RFC 8707); null for any other token.
create or replace function app.token_resource(token_hash bytea) returns text
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return (select t.resource from public.tokens t where t.hash = token_hash and t.kind = 'oauth');
end $$;
call app.hand_over('app.token_resource(bytea)', 'muster_door');
grant execute on function app.token_resource(bytea) to muster_app;

-- The record that a call is about, and its project: by kind and id, or by key. Null where there is none. A project is
-- taken as it is named: app.enter looks whether it is there.
create or replace function app.find_target(
  org uuid, target_kind text, target_ref text, out target_id uuid, out project_id uuid)
language plpgsql stable as $$
begin
  case target_kind
    when 'project' then
      target_id := target_ref::uuid;
      project_id := target_id;
    when 'projectKey' then
      select p.id, p.id into target_id, project_id from public.projects p
        where p.org_id = org and p.key = upper(target_ref);
    when 'story' then
      select s.id, s.project_id into target_id, project_id from public.stories s
        where s.org_id = org and s.id = target_ref::uuid;
    when 'storyKey' then
      select s.id, s.project_id into target_id, project_id
        from public.projects p join public.stories s on s.org_id = p.org_id and s.project_id = p.id
        where p.org_id = org and p.key = upper(split_part(target_ref, '-', 1))
          and s.number = split_part(target_ref, '-', 2)::int;
    when 'column' then
      select c.id, c.project_id into target_id, project_id from public.board_columns c
        where c.org_id = org and c.id = target_ref::uuid;
    when 'epic' then
      select e.id, e.project_id into target_id, project_id from public.epics e
        where e.org_id = org and e.id = target_ref::uuid;
    when 'comment' then
      select c.id, s.project_id into target_id, project_id
        from public.comments c join public.stories s on s.org_id = c.org_id and s.id = c.story_id
        where c.org_id = org and c.id = target_ref::uuid;
    when 'accessRequest' then
      select r.id, r.project_id into target_id, project_id from public.access_requests r
        where r.org_id = org and r.id = target_ref::uuid;
    when 'deliveryGroup' then
      select g.id, g.project_id into target_id, project_id from public.delivery_groups g
        where g.org_id = org and g.id = target_ref::uuid;
    when 'import' then
      select i.id, i.project_id into target_id, project_id from public.imports i
        where i.org_id = org and i.id = target_ref::uuid;
    when 'execution' then
      select e.id, e.project_id into target_id, project_id from public.executions e
        where e.org_id = org and e.id = target_ref::uuid;
    when 'lock' then
      select l.id, l.project_id into target_id, project_id from public.locks l
        where l.org_id = org and l.id = target_ref::uuid;
  end case;
end $$;
call app.hand_over('app.find_target(uuid, text, text)', 'muster_door');

-- What a token reaches, as libs/tenancy/src/identity.ts words it too.
create or replace function app.token_reach(scopes text[], project_ids uuid[], agent_id uuid, may_read_inbox boolean) returns text
language sql stable parallel safe as $$
  select concat_ws('|', array_to_string(scopes, ' '), coalesce(array_to_string(project_ids, ' '), 'all'),
    case when agent_id is null or may_read_inbox then 'inbox' else 'no inbox' end)
$$;

-- Lets a token into its organization for this transaction, or raises. With a target (a record named by kind and
-- id, or by key) also finds it, its project, and whether the caller's role there is enough. `needs_org` and `needs_project`
-- are ranks. It runs on every call, so it reads no table that it can do without: each costs as much as the next.
--
-- `known_…` is what the process remembers of the token, from an earlier answer to it: its organization, the epoch of that
-- (rights_epochs), when the token expires, and the projects in which its rank is enough. It is taken only while that epoch is still
-- the organization's; its role there must be enough by that memory as well. Else everything is looked at again, and the
-- answer has an epoch to remember it by. The epoch is read first, or together with what goes by it: what is read after it is as new
-- or newer, and then the epoch is over. `known_reach` is what the process believes that the token reaches.
create or replace function app.enter(
  token_hash bytea, needs_org int, target_kind text, target_ref text, needs_project int,
  known_reach text, known_org uuid, known_epoch uuid, known_expiry timestamptz, known_projects uuid[],
  out at timestamptz, out target_id uuid, out project_id uuid, out project_rank int,
  out org_role text, out epoch uuid, out expires_at timestamptz)
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  org uuid;
  member uuid;
  bound uuid[];
  reach text;
  sees text;
  target record;
  done text;
begin
  at := now();
  if known_epoch is not null and (known_expiry is null or known_expiry > at)
    and exists (select 1 from rights_epochs e where e.org_id = known_org and e.epoch = known_epoch) then
    done := set_config('muster.org_id', known_org::text, true);
    if target_kind is null then return; end if;
    target := app.find_target(known_org, target_kind, target_ref);
    if target.project_id = any (known_projects) then
      target_id := target.target_id;
      project_id := target.project_id;
      done := set_config('muster.target_id', target_id::text, true);
      done := set_config('muster.project_id', project_id::text, true);
      return;
    end if;
  end if;

  select t.org_id, t.member_id, t.project_ids, t.expires_at, m.role, e.epoch,
      app.token_reach(t.scopes, t.project_ids, t.agent_id, t.may_read_inbox)
    into org, member, bound, expires_at, org_role, epoch, reach
    from tokens t
    join members m on m.org_id = t.org_id and m.id = t.member_id and m.status = 'active'
    left join rights_epochs e on e.org_id = t.org_id
    where t.hash = token_hash and t.revoked_at is null and (t.expires_at is null or t.expires_at > now());
  if not found then
    raise exception 'no such token' using errcode = 'MU401';
  end if;
  if epoch is null then
    raise exception 'the organization is elsewhere' using errcode = 'MU421';
  end if;
  if reach <> known_reach then
    raise exception 'the token reaches another part now' using errcode = 'MU409';
  end if;
  done := set_config('muster.org_id', org::text, true);
  if array_position(array['viewer', 'member', 'admin', 'owner'], org_role) < needs_org then
    raise exception 'role in the organization is too low'
      using errcode = 'MU403', detail = format('organization %s %s', needs_org, org_role);
  end if;
  if target_kind is null then return; end if;

  -- Operators of the installation: not a record but a pass, which app.require_platform asks for.
  if target_kind = 'platform' then
    if not exists (select 1 from tokens t where t.hash = token_hash and 'platform' = any (t.scopes)) then
      raise exception 'not for this token' using errcode = 'MU403',
        detail = (select array_to_string(t.scopes, ' ') from tokens t where t.hash = token_hash);
    end if;
    done := set_config('muster.platform_pass', encode(token_hash, 'hex'), true);
    return;
  end if;
  target := app.find_target(org, target_kind, target_ref);
  target_id := target.target_id;
  project_id := target.project_id;
  -- None there, or none that may be seen: a deleted one is no row.
  select p.visibility into sees from projects p
    where p.org_id = org and p.id = project_id and (bound is null or p.id = any (bound));
  if found then
    project_rank := app.given_rank(sees, org_role);
    -- Teams and direct membership are looked up only where they can make a difference.
    if project_rank is null or project_rank < needs_project then
      project_rank := app.project_rank(org, project_id, sees, member, org_role);
    end if;
  end if;
  if project_rank is null then
    raise exception 'nothing there to be seen' using errcode = 'MU404';
  end if;
  if project_rank < needs_project then
    raise exception 'role in the project is too low' using errcode = 'MU403',
      detail = format('project %s %s', needs_project, (array['viewer', 'contributor', 'lead'])[project_rank]);
  end if;
  done := set_config('muster.target_id', target_id::text, true);
  done := set_config('muster.project_id', project_id::text, true);
end $$;
call app.hand_over('app.enter(bytea, int, text, text, int, text, uuid, uuid, timestamptz, uuid[])', 'muster_door');
grant execute on function app.enter(bytea, int, text, text, int, text, uuid, uuid, timestamptz, uuid[]) to muster_app;

-- The record that this transaction's call is about; null where it is about none.
create or replace function app.target_id() returns uuid
language sql stable parallel safe as $$
  select nullif(current_setting('muster.target_id', true), '')::uuid
$$;

-- The project of that record.
create or replace function app.project_id() returns uuid
language sql stable parallel safe as $$
  select nullif(current_setting('muster.project_id', true), '')::uuid
$$;

-- What stands for a project where it is held open, or archived. Not its row: all who write would queue up to write to that.
create or replace function app.bar_of(project uuid) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended('archive ' || project::text, 0)
$$;

-- Keeps the project of this transaction from being archived until it ends, and says whether it is already: archiving
-- waits for all who write there, and who comes after it sees it.
create or replace function app.hold_open() returns boolean
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(app.bar_of(app.project_id()));
  -- A statement of its own, so that it sees what was committed while this waited.
  return (select p.archived_at is not null from projects p where p.org_id = app.org_id() and p.id = app.project_id());
end $$;

-- The door for somebody who has no token yet: the secret of an invitation names the organization, whatever became of
-- the invitation since. Raises MU404 where there is none, or no such organization any more.
create or replace function app.enter_by_invitation(secret_hash bytea, out at timestamptz, out org_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  select now(), i.org_id into at, org_id
    from invitations i
    join orgs o on o.id = i.org_id and o.deleted_at is null
    where i.token_hash = secret_hash;
  if not found then
    raise exception 'no such invitation' using errcode = 'MU404';
  end if;
  perform app.enter_as_system(org_id);
end $$;
call app.hand_over('app.enter_by_invitation(bytea)', 'muster_door');
grant execute on function app.enter_by_invitation(bytea) to muster_app;

-- Notes when tokens were last used. Called in batches, at most once a minute per token. A session that is used lasts for
-- another thirty days, and no longer than it ever may; its token is told once a day, since each telling begins an epoch.
-- What is noted after a token's end was a use before it.
create or replace function app.touch_tokens(hashes bytea[]) returns void
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update public.tokens set last_used_at = least(now(), revoked_at)
  where hash = any (hashes)
    and (last_used_at is null or last_used_at < least(now(), revoked_at) - interval '1 minute');
  update sign_in.sessions s set last_seen_at = now(), expires_at = least(now() + interval '30 days', s.ends_at)
  from (select k.id from sign_in.sessions k
    where k.id in (select t.session_id from public.tokens t where t.hash = any (hashes) and t.session_id is not null)
      and k.revoked_at is null and k.expires_at > now() and k.last_seen_at < now() - interval '1 minute'
    order by k.id for no key update) used
  where s.id = used.id;
  update public.tokens t set expires_at = s.expires_at
  from sign_in.sessions s
  where t.hash = any (hashes) and s.id = t.session_id and t.revoked_at is null
    and t.expires_at > now() and t.expires_at < s.expires_at - interval '1 day'
$$;
call app.hand_over('app.touch_tokens(bytea[])', 'muster_door');
grant execute on function app.touch_tokens(bytea[]) to muster_app;

-- Whoever deletes an organization stops its tokens in the same breath, so that the door need not look at it.
create or replace function app.revoke_tokens() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update connections set revoked_at = now() where org_id = new.id and revoked_at is null;
  update tokens set revoked_at = now() where org_id = new.id and revoked_at is null;
  return null;
end $$;
create or replace trigger orgs_deleted after update of deleted_at on orgs for each row
  when (new.deleted_at is not null) execute function app.revoke_tokens();
