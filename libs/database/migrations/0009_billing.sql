-- Each change of the seats that were bought, with what it cost: added to and never rewritten.
create table seat_ledger (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  -- The subscription's version from this change on.
  version int not null,
  at timestamptz(3) not null,
  actor jsonb not null,
  from_seats int not null check (from_seats >= 1),
  to_seats int not null check (to_seats >= 1),
  -- Whole minor units of the currency; below zero is a credit. The lines add up to it.
  amount bigint not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  lines jsonb not null,
  period_start timestamptz(3) not null,
  period_end timestamptz(3) not null,
  primary key (org_id, id),
  -- What was changed, in order? Each change follows from the one before it.
  unique (org_id, version),
  check (from_seats <> to_seats)
);
call app.guard_table('seat_ledger', 'select, insert');

-- The door for somebody who has no token yet: the secret of an invitation names the organization, whatever became of
-- the invitation since. Raises MU404 where there is none, or no such organization any more.
grant create on schema app to muster_door;
create function app.enter_by_invitation(secret_hash bytea, out at timestamptz, out org_id uuid)
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
begin
  select now(), i.org_id into at, org_id
    from invitations i
    join orgs o on o.id = i.org_id and o.deleted_at is null
    where i.token_hash = secret_hash;
  if not found then
    raise exception 'no such invitation' using errcode = 'MU404';
  end if;
  perform set_config('muster.org_id', org_id::text, true);
end $$;
alter function app.enter_by_invitation(bytea) owner to muster_door;
revoke create on schema app from muster_door;
revoke all on function app.enter_by_invitation(bytea) from public;
grant execute on function app.enter_by_invitation(bytea) to muster_app;
grant select on invitations to muster_door;
create policy the_door on invitations to muster_door using (true);

-- Operators give seats away too, so they count the ones that are promised.
grant select on invitations to muster_operator;
create policy operators on invitations to muster_operator using (true);
