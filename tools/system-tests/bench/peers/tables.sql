-- The board of the peers: the columns and indexes of Muster's board as plain tables, with 8 projects of
-- 200 stories.
create table projects (id uuid primary key default uuidv7(), name text not null);
create table columns (id uuid primary key default uuidv7(), project_id uuid not null references projects,
  status text not null, position int not null);
create index on columns (project_id);
create table stories (id uuid primary key default uuidv7(), project_id uuid not null references projects,
  column_id uuid not null references columns, title text not null, description text,
  priority text not null default 'none', labels jsonb not null default '[]', estimate int, rank text not null,
  created_at timestamptz not null default now(), updated_at timestamptz not null default now());
create index on stories (project_id, rank);
create index on stories (column_id);
create table comments (id uuid primary key default uuidv7(), story_id uuid not null references stories,
  body text not null, created_at timestamptz not null default now());
create index on comments (story_id);
insert into projects (name) select 'Project ' || n from generate_series(1, 8) n;
insert into columns (project_id, status, position)
  select p.id, s.status, s.position from projects p,
    unnest(array['backlog', 'ready', 'in_progress', 'in_review', 'done']) with ordinality s (status, position);
insert into stories (project_id, column_id, title, description, priority, labels, estimate, rank)
  select c.project_id, c.id, 'The 1st answer must not overtake the one before it',
    repeat('When it is opened on a slow connection, the second request overtakes the first. ', 9),
    'high', '["backend", "bug"]', n % 13, lpad(n::text, 6, '0')
  from columns c, generate_series(1, 40) n;
analyze;
