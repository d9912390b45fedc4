-- Renewals are the most frequent writes. A new version of a row gets an entry in every index of its table where a column that
-- some index has is changed, and in none where no such column is and its page has room for it. So no index has the time of a
-- lease's end any more; one has the time at which the sweep looks at the lease next, which a renewal leaves as it is.

-- Not later than expires_at, which a trigger sees to. At once, unless told.
alter table leases add column due_at timestamptz(3) not null default '-infinity';
alter table leases set (fillfactor = 80);
call app.open_table('leases', 'muster_worker', 'select (due_at)');
