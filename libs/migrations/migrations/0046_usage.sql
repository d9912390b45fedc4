-- Tokens and costs of runs, their prices, and budgets (operations usage.* and budgets.*).

-- The totals that a run reported, per model and currency. A report can only raise a counter, so repeated, late and
-- out-of-order reports change nothing.
create table run_usage (
  org_id uuid not null,
  project_id uuid not null,
  -- The run's own member and agent are part of the key, so that no other member can change its totals.
  member_id uuid not null,
  -- The null uuid if the member worked without an agent.
  agent_id uuid not null default '00000000-0000-0000-0000-000000000000',
  run_id text not null,
  model text collate "C" not null,
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  -- The cost that counts: the reported one, otherwise the tokens at the prices of the day of the first report.
  cost_micros bigint not null default 0,
  -- The highest reported cost; null if only tokens were reported.
  reported_cost_micros bigint,
  first_reported_at timestamptz(3) not null default clock_timestamp(),
  last_reported_at timestamptz(3) not null default clock_timestamp(),
  primary key (org_id, project_id, run_id, member_id, agent_id, model, currency),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The totals of runs that no longer report. The worker removes them; usage_days keeps what they cost.
create index run_usage_last on run_usage (last_reported_at);
call app.guard_table('run_usage', 'select, insert, update');
call app.open_table('run_usage', 'muster_worker', 'select (org_id, project_id, run_id, member_id, agent_id, model, currency, last_reported_at)');

-- The same amounts as differences: by how much the totals of a run grew on a day while it worked on a story. The rows of a
-- run add up to its totals.
create table usage_days (
  org_id uuid not null,
  project_id uuid not null,
  -- In UTC.
  day date not null,
  member_id uuid not null,
  agent_id uuid not null default '00000000-0000-0000-0000-000000000000',
  run_id text not null,
  -- The null uuid if the run named no story. The row outlives its story, so that the sums stay correct.
  story_id uuid not null default '00000000-0000-0000-0000-000000000000',
  model text collate "C" not null,
  currency text collate "C" not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cached_tokens bigint not null,
  cost_micros bigint not null,
  primary key (org_id, project_id, day, member_id, agent_id, run_id, story_id, model, currency),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The usage of a story.
create index usage_days_story on usage_days (org_id, story_id);
-- The usage of an agent since a day.
create index usage_days_agent on usage_days (org_id, agent_id, day);
call app.guard_table('usage_days', 'select, insert, update');

-- An organization's own prices. A model name is a prefix of the names that agents report.
create table usage_prices (
  org_id uuid not null references orgs (id) on delete cascade,
  model text collate "C" not null check (length(model) between 1 and 120),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  valid_from date not null,
  -- Per million tokens.
  input_micros bigint not null check (input_micros >= 0),
  output_micros bigint not null check (output_micros >= 0),
  cached_micros bigint not null check (cached_micros >= 0),
  primary key (org_id, model, currency, valid_from)
);
call app.guard_table('usage_prices');

-- A limit for costs. Without a project, agent and story it is one of the whole organization.
create table budgets (
  org_id uuid not null references orgs (id) on delete cascade,
  id uuid not null,
  scope text not null check (scope in ('org', 'project', 'agent', 'story')),
  project_id uuid,
  agent_id uuid,
  story_id uuid,
  period text not null check (period in ('day', 'month', 'total')),
  action text not null check (action in ('notify', 'stop')),
  amount_micros bigint not null check (amount_micros > 0),
  currency text collate "C" not null check (currency ~ '^[A-Z]{3}$'),
  -- The costs since the first day of the period. In a later period they count as zero until the next report.
  spent_micros bigint not null default 0,
  period_start date not null,
  -- The share of the amount, 80 or 100, that was notified last in this period; 0 for none.
  warned_percent int not null default 0,
  -- When the costs of this period reached the amount; null if they did not.
  exceeded_at timestamptz(3),
  set_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade,
  foreign key (org_id, agent_id) references agents (org_id, id) on delete cascade,
  foreign key (org_id, project_id, story_id) references stories (org_id, project_id, id) on delete cascade,
  check ((scope in ('project', 'story')) = (project_id is not null)),
  check ((scope = 'agent') = (agent_id is not null)),
  check ((scope = 'story') = (story_id is not null))
);
-- One budget per target and period.
create unique index budgets_target on budgets (org_id, scope, project_id, agent_id, story_id, period) nulls not distinct;
-- The budgets that are used up. Every renewal and every acquire of an agent looks for them.
create index budgets_exceeded on budgets (org_id) where exceeded_at is not null;
-- The budgets of a project, an agent and a story, also when these are deleted.
create index budgets_project on budgets (org_id, project_id) where project_id is not null;
create index budgets_agent on budgets (org_id, agent_id) where agent_id is not null;
create index budgets_story on budgets (org_id, project_id, story_id) where story_id is not null;
call app.guard_table('budgets');

alter table notifications drop constraint notifications_kind_check;
-- contract of 0031_forge_failures: it allows every kind that was allowed before, and one more.
alter table notifications add constraint notifications_kind_check check (kind in (
  'mention', 'assigned', 'review_requested', 'review_verdict', 'comment_reply', 'handoff', 'lease_expired',
  'lock_taken_over', 'lease_taken_over', 'broadcast', 'invitation_accepted', 'access_requested',
  'access_resolved', 'seat_limit', 'webhook_paused', 'unblocked', 'forge_failing', 'merge_reverted',
  'budget_warning')) not valid;
alter table notifications validate constraint notifications_kind_check;
