-- The seats of an organization as the worker counted them last (queue billing, job seats.recalculate). Operations that
-- give a seat away count for themselves, under a lock; this is what reports, notifications and drift checks read.
create table seat_usage (
  org_id uuid primary key references orgs (id) on delete cascade,
  purchased int not null,
  used int not null,
  pending int not null,
  by_role jsonb not null,
  recalculated_at timestamptz(3) not null default clock_timestamp()
);
call app.guard_table('seat_usage', 'select, insert, update');
