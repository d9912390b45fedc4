-- The number of the newest line of a run's log. Older lines than the newest 5,000 are deleted.
alter table agent_runs add column log_lines int not null default 0;
-- Callers that wait for lines read these columns.
call app.open_table('agent_runs', 'muster_door', 'select (id, log_lines, ended_at)');

-- The log of a run, with one row for the lines of one call.
create table run_logs (
  org_id uuid not null,
  -- The id of the row in agent_runs.
  run_id uuid not null,
  -- The numbers of the first and the last line. Lines of a run count from 1.
  first_line int not null,
  last_line int not null check (last_line >= first_line),
  -- Objects of stream and message, in order.
  lines jsonb not null,
  at timestamptz(3) not null,
  primary key (org_id, run_id, last_line),
  foreign key (org_id, run_id) references agent_runs (org_id, id) on delete cascade
);
-- The worker deletes old rows.
create index run_logs_at on run_logs (at);
call app.guard_table('run_logs', 'select, insert, delete');
call app.open_table('run_logs', 'muster_worker', 'select (org_id, run_id, last_line, at), delete');
