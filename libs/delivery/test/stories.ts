/**
 * Creates an organization with ready stories in the project WEB for specs. It uses SQL, since the board is
 * not in their test world.
 */
import { newId } from '@muster/driver';
import { type Makers, type People, type World } from '@muster/testing';

export interface Stories<Handlers = object> {
  readonly people: People<Handlers>;
  readonly projectId: string;
  /** The IDs of WEB-1, WEB-2 and so on. */
  readonly stories: readonly string[];
}

export async function arrangeStories<Handlers>(
  world: World<Handlers>,
  setUp: Parameters<Makers['org']>[0] & { readonly count?: number } = {},
): Promise<Stories<Handlers>> {
  const { count = 2, ...org } = setUp;
  const people = await world.org(org);
  const { orgId } = people;
  const [projectId, columnId] = [newId(), newId()];
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
    orgId,
    projectId,
  );
  await world.rows('insert into project_counters (org_id, project_id) values ($1, $2)', orgId, projectId);
  await world.rows(
    `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'Ready', 'ready', 0)`,
    orgId,
    columnId,
    projectId,
  );
  const stories = Array.from({ length: count }, newId);
  await world.rows(
    `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
     select $1, n.id, $2, n.number, 'A story', 'ready', $3, 'a' || lpad(n.number::text, 3, '0'), '{}'
     from unnest($4::uuid[]) with ordinality n (id, number)`,
    orgId,
    projectId,
    columnId,
    stories,
  );
  return { people, projectId, stories };
}
