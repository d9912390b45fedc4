-- Saved views of stories (views.create): of one member, or shared with everyone who may see the project.
create table views (
  org_id uuid not null,
  id uuid not null,
  owner_id uuid not null,
  -- Null for stories of all projects.
  project_id uuid,
  name text not null check (length(name) between 1 and 120),
  layout text not null check (layout in ('board', 'list', 'table', 'timeline')),
  filter jsonb not null,
  group_by text,
  sort text not null,
  columns text[] not null,
  shared boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  version int not null default 1,
  primary key (org_id, id),
  foreign key (org_id, owner_id) references members (org_id, id) on delete cascade,
  foreign key (org_id, project_id) references projects (org_id, id) on delete cascade
);
-- The views of a member, and the shared ones.
create index views_owner on views (org_id, owner_id, id);
create index views_shared on views (org_id, id) where shared;
-- Finds the views of a project that is deleted.
create index views_project on views (org_id, project_id) where project_id is not null;
call app.guard_table('views');
