-- Functions for reads on a standby, see docs/decisions/scale.md. They raise SQLSTATEs in addition to those of
-- enter.sql. MU425: the standby has not reached the position yet. MU428: the process's cached rights do not
-- suffice there. Both send the read to the primary.

-- On the primary: returns the position of each organization (app.organization_positions). It is null if the
-- rights epoch differs from the given one, or if the token has expired.
create or replace function app.moves_while_rights_hold(orgs uuid[], epochs uuid[], expiries timestamptz[])
returns table (nth bigint, moves bigint)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  -- A lookup per organization. With a join, a plan cached while there were few organizations would read all
  -- of them.
  return query select w.nth, (
      select s.activity + s.audit from streams s
      where s.org_id = w.org_id and (w.expires_at is null or w.expires_at > now())
        and exists (select 1 from rights_epochs e where e.org_id = w.org_id and e.epoch = w.epoch))
    from unnest(orgs, epochs, expiries) with ordinality as w (org_id, epoch, expires_at, nth);
end $$;
call app.hand_over('app.moves_while_rights_hold(uuid[], uuid[], timestamptz[])', 'muster_door');
grant execute on function app.moves_while_rights_hold(uuid[], uuid[], timestamptz[]) to muster_app;

-- Opens an organization for a read on a standby, or raises. It relies only on the process's cached rights,
-- which the primary confirms at the same time. A standby in the same rights epoch shows no more than the
-- primary does. `moves` and `stands_at` are read before the statements that follow, which therefore see at
-- least that state.
create or replace function app.enter_standby(
  at_least pg_lsn, known_org uuid, known_epoch uuid, target_kind text, target_ref text, known_projects uuid[],
  out at timestamptz, out target_id uuid, out project_id uuid, out moves bigint, out stands_at pg_lsn)
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  target record;
  done text;
begin
  at := now();
  -- A promoted server no longer follows the primary.
  stands_at := case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end;
  if stands_at is null or stands_at < at_least then
    raise exception 'the standby has not come so far' using errcode = 'MU425';
  end if;
  select s.activity + s.audit into moves
    from rights_epochs e join streams s on s.org_id = e.org_id
    where e.org_id = known_org and e.epoch = known_epoch;
  if not found then
    raise exception 'the standby is in another epoch of rights' using errcode = 'MU428';
  end if;
  done := set_config('muster.org_id', known_org::text, true);
  if target_kind is null then return; end if;
  target := app.find_target(known_org, target_kind, target_ref);
  if (target.project_id = any (known_projects)) is not true then
    raise exception 'the rights in this project are not known' using errcode = 'MU428';
  end if;
  target_id := target.target_id;
  project_id := target.project_id;
  done := set_config('muster.target_id', target_id::text, true);
  done := set_config('muster.project_id', project_id::text, true);
end $$;
call app.hand_over('app.enter_standby(pg_lsn, uuid, uuid, text, text, uuid[])', 'muster_door');
grant execute on function app.enter_standby(pg_lsn, uuid, uuid, text, text, uuid[]) to muster_app;
