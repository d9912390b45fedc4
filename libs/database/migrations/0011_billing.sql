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
