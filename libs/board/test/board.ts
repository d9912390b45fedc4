/**
 * Creates a project with its board for specs. It writes the tables directly, so specs need no other
 * operation.
 */
import { newId } from '@muster/driver';
import { internalOperations } from '@muster/contract';
import { handle } from '@muster/runtime';

const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done'] as const;

/** A project with the ID of its column for each status. */
export interface TestBoard {
  readonly projectId: string;
  readonly key: string;
  readonly columns: Readonly<Record<(typeof statuses)[number], string>>;
}

interface BoardSetUp {
  readonly key?: string;
  readonly visibility?: 'org' | 'private';
}

/** Creates a board in an organization. `rows` is the function of the test world. */
export async function arrangeBoard(
  { rows }: { rows: (sql: string, ...parameters: unknown[]) => Promise<unknown[]> },
  orgId: string,
  { key = 'WEB', visibility = 'org' }: BoardSetUp = {},
): Promise<TestBoard> {
  const projectId = newId();
  await rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, $3, $3, $4, 'hosted')`,
    orgId,
    projectId,
    key,
    visibility,
  );
  await rows('insert into project_counters (org_id, project_id) values ($1, $2)', orgId, projectId);
  const columns = {
    backlog: newId(),
    ready: newId(),
    in_progress: newId(),
    in_review: newId(),
    done: newId(),
  };
  await rows(
    `insert into board_columns (org_id, project_id, id, name, status, position)
     select $1, $2, c.id, c.status, c.status, c.position - 1
     from unnest($3::uuid[], $4::text[]) with ordinality c (id, status, position)`,
    orgId,
    projectId,
    statuses.map((status) => columns[status]),
    statuses,
  );
  return { projectId, key, columns };
}

/** The answer of delivery for a project without work. Specs of the API test other answers. */
export const noWorkHandlers = { endWork: handle(internalOperations.endWork, async () => ({ ended: 0 })) };
