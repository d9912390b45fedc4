/** Creates a project with stories by SQL, because the worker does not depend on the board. */
import { newId } from '@muster/driver';
import { type People, type World } from '@muster/testing';

export interface WorkerBoard<Handlers = object> {
  readonly people: People<Handlers>;
  readonly projectId: string;
  readonly storyIds: readonly string[];
}

/** Creates a project with stories WEB-1, WEB-2 …, created by Ana. */
export async function arrangeBoard<Handlers>(
  world: World<Handlers>,
  stories = 1,
): Promise<WorkerBoard<Handlers>> {
  const people = await world.org();
  const { orgId, ana } = people;
  const [projectId, columnId] = [newId(), newId()];
  const storyIds = Array.from({ length: stories }, newId);
  await world.batchStatements(async ({ rows }) => {
    await rows(
      `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
      orgId,
      projectId,
    );
    await rows('insert into project_counters (org_id, project_id) values ($1, $2)', orgId, projectId);
    await rows(
      `insert into board_columns (org_id, id, project_id, name, status, position) values ($1, $2, $3, 'Ready', 'ready', 0)`,
      orgId,
      columnId,
      projectId,
    );
    await rows(
      `insert into stories (org_id, id, project_id, number, title, status, column_id, rank, created_by)
       select $1, s.id, $2, s.number, 'Passkeys', 'ready', $3, 'a' || s.number, $4
       from unnest($5::uuid[]) with ordinality s (id, number)`,
      orgId,
      projectId,
      columnId,
      { kind: 'member', memberId: ana.me.memberId, agentId: null, name: 'Ana' },
      storyIds,
    );
  });
  return { people, projectId, storyIds };
}
