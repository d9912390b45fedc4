-- Points: a ledger that is counted from the activity, and the sums that are kept with it, so that no reader ever adds
-- up the ledger. Everything here is written by the counting alone, and taken away by a reset.

-- How far an organization's activity is counted. Locked while a batch is counted, so two counts at once take turns.
create table gamification_state (
  org_id uuid primary key references orgs (id) on delete cascade,
  -- The last entry of the activity that was counted; it is a cursor, since numbers have no gaps and follow commits.
  counted_seq bigint not null default 0,
  -- running: part of the activity is counted, and a job goes on with the rest.
  state text not null default 'done' check (state in ('queued', 'running', 'done')),
  job_id uuid,
  requested_at timestamptz(3),
  synced_at timestamptz(3)
);
call app.guard_table('gamification_state');

-- What gave points to whom. An entry is taken back by its number, never removed, and given again as a new one.
create table point_entries (
  org_id uuid not null,
  activity_seq bigint not null,
  member_id uuid not null,
  kind text not null,
  -- What it was given for: nothing gives a member points of one kind twice while they stand.
  subject_id uuid not null,
  project_id uuid,
  points int not null check (points > 0),
  at timestamptz(3) not null,
  -- The entry of the activity that took it back; null while it stands.
  taken_back_seq bigint check (taken_back_seq > activity_seq),
  -- Counting an entry of the activity again gives nothing again.
  primary key (org_id, activity_seq, member_id, kind),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
-- What stands of what was given for this?
create index point_entries_standing on point_entries (org_id, subject_id, kind) where taken_back_seq is null;
call app.guard_table('point_entries', 'select, insert, update');

-- What a member has of each kind, over all time.
create table point_tallies (
  org_id uuid not null,
  member_id uuid not null,
  kind text not null,
  points int not null check (points >= 0),
  -- How often: badges go by it.
  times int not null check (times >= 0),
  primary key (org_id, member_id, kind),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
call app.guard_table('point_tallies');

-- The leaderboards: what a member has in a period. Of weeks (from Monday) and months, by UTC, this one and the one
-- before are kept; all time starts on 1970-01-01.
create table point_scores (
  org_id uuid not null,
  period text not null check (period in ('week', 'month', 'all')),
  starts_on date not null,
  -- The project, or the organization itself for what was done anywhere.
  scope_id uuid not null,
  member_id uuid not null,
  points int not null check (points >= 0),
  -- What has this member in this period?
  primary key (org_id, period, starts_on, scope_id, member_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
-- A leaderboard from the top.
create index point_scores_board on point_scores (org_id, period, starts_on, scope_id, points desc, member_id);
call app.guard_table('point_scores');

-- The days, by UTC, on which a member earned something: streaks are walked along them.
create table point_days (
  org_id uuid not null,
  member_id uuid not null,
  day date not null,
  points int not null check (points >= 0),
  primary key (org_id, member_id, day),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
call app.guard_table('point_days');

-- Where a member's points begin anew: the activity up to this entry counts no more, nor do days before this one.
create table point_resets (
  org_id uuid not null,
  member_id uuid not null,
  reset_seq bigint not null,
  reset_on date not null,
  primary key (org_id, member_id),
  foreign key (org_id, member_id) references members (org_id, id) on delete cascade
);
call app.guard_table('point_resets');
