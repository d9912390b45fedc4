-- Authorization checks. They raise SQLSTATEs of class MU. MU401: not authenticated. MU403: authenticated but
-- not permitted. MU404: nothing visible there. MU409: the access of the token differs from the process's
-- cached identity, so the process must call app.identify again. MU421: the organization has no rights epoch
-- here because it is on another server (nodes.sql). The detail of an MU403 is `organization` or `project`
-- with the required rank and the caller's role, or, for platform access, the scopes of the token.

-- Returns the identity of a token for the process that received it; no row if there is none. The process may
-- cache the identity for a while, since app.enter checks again in each transaction.
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

-- Returns the resource that a client's token was granted for by OAuth (RFC 8707); null for any other token.
create or replace function app.token_resource(token_hash bytea) returns text
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  return (select t.resource from public.tokens t where t.hash = token_hash and t.kind = 'oauth');
end $$;
call app.hand_over('app.token_resource(bytea)', 'muster_door');
grant execute on function app.token_resource(bytea) to muster_app;

-- Finds the record that a call concerns, and its project, by kind and id or by key. Both are null if there is
-- none. The id of a project is returned unchecked: app.enter checks that it exists.
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
    -- A deleted story is kept for 30 days (deleted-stories.sql).
    when 'deletedStory' then
      select d.id, d.project_id into target_id, project_id from public.deleted_stories d
        where d.org_id = org and d.id = target_ref::uuid and d.deleted_at > now() - interval '30 days';
    when 'deletedStoryKey' then
      select d.id, d.project_id into target_id, project_id
        from public.projects p join public.deleted_stories d on d.org_id = p.org_id and d.project_id = p.id
        where p.org_id = org and p.key = upper(split_part(target_ref, '-', 1))
          and d.number = split_part(target_ref, '-', 2)::int and d.deleted_at > now() - interval '30 days'
        order by d.deleted_at desc limit 1;
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
    when 'plan' then
      select l.id, l.project_id into target_id, project_id from public.plans l
        where l.org_id = org and l.id = target_ref::uuid;
    when 'attachment' then
      select a.id, a.project_id into target_id, project_id from public.attachments a
        where a.org_id = org and a.id = target_ref::uuid;
    when 'execution' then
      select e.id, e.project_id into target_id, project_id from public.executions e
        where e.org_id = org and e.id = target_ref::uuid;
    when 'lock' then
      select l.id, l.project_id into target_id, project_id from public.locks l
        where l.org_id = org and l.id = target_ref::uuid;
  end case;
end $$;
call app.hand_over('app.find_target(uuid, text, text)', 'muster_door');

-- Serializes the access of a token, exactly as libs/tenancy/src/identity.ts does.
create or replace function app.token_reach(scopes text[], project_ids uuid[], agent_id uuid, may_read_inbox boolean) returns text
language sql stable parallel safe as $$
  select concat_ws('|', array_to_string(scopes, ' '), coalesce(array_to_string(project_ids, ' '), 'all'),
    case when agent_id is null or may_read_inbox then 'inbox' else 'no inbox' end)
$$;

-- Checks a token and opens its organization for this transaction, or raises. If a target is given (a record
-- by kind and id, or by key), it also finds the record and its project, and checks the caller's role there.
-- `needs_org` and `needs_project` are ranks. The function runs on every call, so it reads no table that it
-- can avoid: each one costs as much as the next.
--
-- The `known_…` parameters are what the process cached from an earlier answer for this token. They are its
-- organization, the rights epoch of that organization (rights_epochs), the token's expiry, and the projects
-- in which its rank suffices. They are accepted only while that epoch lasts; the role in the organization
-- must also suffice by the cache. Otherwise everything is checked again, and the answer contains an epoch for
-- the cache. The epoch is read before the rights, or together with them. Rights read later are as new or
-- newer, and if they are newer the epoch has ended. `known_reach` is the token's access in the process's
-- cache.
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

  -- Operators of the installation: the target is not a record. app.require_platform checks their access
  -- again.
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
  -- A project that does not exist or is not visible. Deleted projects have no row.
  select p.visibility into sees from projects p
    where p.org_id = org and p.id = project_id and (bound is null or p.id = any (bound));
  if found then
    project_rank := app.given_rank(sees, org_role);
    -- Teams and direct membership are read only if they can make a difference.
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

-- Returns the id of the record that this transaction's call concerns; null if it concerns none.
create or replace function app.target_id() returns uuid
language sql stable parallel safe as $$
  select nullif(current_setting('muster.target_id', true), '')::uuid
$$;

-- Returns the id of that record's project.
create or replace function app.project_id() returns uuid
language sql stable parallel safe as $$
  select nullif(current_setting('muster.project_id', true), '')::uuid
$$;

-- Returns the advisory lock of a project, taken to archive it or to prevent that. The row is not locked,
-- since all writers of the project would then queue for it.
create or replace function app.bar_of(project uuid) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended('archive ' || project::text, 0)
$$;

-- Prevents the project of this transaction from being archived until it ends, and returns true if it is
-- archived already. Archiving waits for all writers, and later writers see it.
create or replace function app.hold_open() returns boolean
language plpgsql volatile set search_path = pg_catalog, public, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(app.bar_of(app.project_id()));
  -- This is a separate statement, so that it sees what was committed during the wait.
  return (select p.archived_at is not null from projects p where p.org_id = app.org_id() and p.id = app.project_id());
end $$;

-- Checks a person without a token. The secret of an invitation names the organization, which opens whatever
-- the invitation's state is now. Raises MU404 if there is no such invitation or the organization no longer
-- exists.
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

-- Records when tokens were last used. It is called in batches, at most once a minute per token. A use extends
-- a session by thirty days, up to its maximum lifetime. The expiry of the session's token is updated only
-- once a day, since each update starts a new rights epoch. A use recorded after a token's end happened before
-- it.
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

-- Revokes the tokens of a deleted organization in the same transaction, so that the authorization check need
-- not read the organization.
create or replace function app.revoke_tokens() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
begin
  update connections set revoked_at = now() where org_id = new.id and revoked_at is null;
  update tokens set revoked_at = now() where org_id = new.id and revoked_at is null;
  return null;
end $$;
create or replace trigger orgs_deleted after update of deleted_at on orgs for each row
  when (new.deleted_at is not null) execute function app.revoke_tokens();
