-- A plan: stories that are described together and applied again whenever the description changes (plans.apply).
create table plans (
  org_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  -- The caller's own name for the plan.
  ref text not null check (length(ref) between 1 and 120),
  applied_by jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  unique (org_id, project_id, ref),
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The plans of a project, newest first.
create index plans_project on plans (org_id, project_id, id);
call app.guard_table('plans');
call app.open_table('plans', 'muster_door', 'select');

-- The story or epic that each ref of a plan stands for. The row stays when the record is deleted, so that the
-- plan does not create it again.
create table plan_items (
  org_id uuid not null,
  plan_id uuid not null,
  kind text not null check (kind in ('story', 'epic')),
  ref text not null check (length(ref) between 1 and 120),
  record_id uuid not null,
  -- The order of the plan.
  position int not null,
  -- The values that the plan applied last, by field. Long texts are stored as their SHA-256.
  base jsonb not null,
  primary key (org_id, plan_id, kind, ref),
  foreign key (org_id, plan_id) references plans (org_id, id) on delete cascade
);
call app.guard_table('plan_items');
