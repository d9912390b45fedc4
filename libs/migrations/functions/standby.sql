-- For reads that a standby answers, see docs/decisions/scale.md. SQLSTATEs beside those of enter.sql: MU425 the standby has
-- not come so far, MU428 what the process remembers of the token's rights is not enough there. Both send a read to the primary.

-- Asked of the primary: how far each organization has moved (app.organization_positions), null where its rights are in another
-- epoch than the one told, or the token is over.
create or replace function app.moves_while_rights_hold(orgs uuid[], epochs uuid[], expiries timestamptz[])
returns table (nth bigint, moves bigint)
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  -- Looked up one by one: a plan that is kept would read all organizations, where there were few as it was made.
  return query select w.nth, (
      select s.activity + s.audit from streams s
      where s.org_id = w.org_id and (w.expires_at is null or w.expires_at > now())
        and exists (select 1 from rights_epochs e where e.org_id = w.org_id and e.epoch = w.epoch))
    from unnest(orgs, epochs, expiries) with ordinality as w (org_id, epoch, expires_at, nth);
end $$;
call app.hand_over('app.moves_while_rights_hold(uuid[], uuid[], timestamptz[])', 'muster_door');
grant execute on function app.moves_while_rights_hold(uuid[], uuid[], timestamptz[]) to muster_app;

-- Lets a read into its organization at a standby, or raises. It goes by what the process remembers alone: that is asked of the
-- primary at the same time, and a standby that is in the same epoch of rights shows nobody more than the primary does.
-- `moves` and `stands_at` are of before the statements that follow, which so see at least that.
create or replace function app.enter_standby(
  at_least pg_lsn, known_org uuid, known_epoch uuid, target_kind text, target_ref text, known_projects uuid[],
  out at timestamptz, out target_id uuid, out project_id uuid, out moves bigint, out stands_at pg_lsn)
language plpgsql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  target record;
  done text;
begin
  at := now();
  -- A server that was promoted goes its own way.
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
