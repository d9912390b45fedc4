/** The board of the peers: the same columns, indexes and number of rows as Muster's, as plain tables. */
import { type Pool } from '@muster/driver';
import { description, storiesPerProject, titleOf } from './data.ts';

/** A project of a peer, with the IDs that requests need. */
export interface PeerProject {
  readonly projectId: string;
  readonly columnIds: readonly string[];
  readonly storyIds: readonly string[];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Returns the SQL that creates and fills the tables. */
export const peerTables = (projects: number): string => `
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
  insert into projects (name) select 'Project ' || n from generate_series(1, ${projects}) n;
  insert into columns (project_id, status, position)
    select p.id, s.status, s.position from projects p,
      unnest(array['backlog', 'ready', 'in_progress', 'in_review', 'done']) with ordinality s (status, position);
  insert into stories (project_id, column_id, title, description, priority, labels, estimate, rank)
    select c.project_id, c.id, ${quoted(titleOf(1))}, ${quoted(description('a list'))}, 'high',
      '["backend", "bug"]', n % 13, lpad(n::text, 6, '0')
    from columns c, generate_series(1, ${storiesPerProject / 5}) n;
  analyze`;

export async function readPeerProjects(database: Pool): Promise<PeerProject[]> {
  const { rows } = await database.query<PeerProject>(
    `select p.id as "projectId",
       (select array_agg(c.id order by c.position) from columns c where c.project_id = p.id) as "columnIds",
       (select array_agg(s.id order by s.id) from stories s where s.project_id = p.id) as "storyIds"
     from projects p order by p.id`,
  );
  return rows;
}
