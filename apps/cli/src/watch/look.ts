/** One look at who is at work. */
import { type Client } from '@muster/client';
import { type ActiveRun, type Execution, type Lock } from '@muster/registry';

export interface Seen {
  readonly org: string;
  /** The server's clock, which decides what has expired. */
  readonly at: string;
  readonly projects: ReadonlyMap<string, string>;
  readonly runs: readonly ActiveRun[];
  readonly executions: readonly Execution[];
  readonly locks: readonly Lock[];
}

/** Calls that are under way at once; a look is no load test. */
const atOnce = 4;

async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))));
  }
  return results;
}

/** Projects come and go seldom: they are listed again after so many looks. */
const looksPerList = 15;

/** Looks again and again, at one project or at all that the caller may see. */
export function createLook(client: Client, project: string | undefined): () => Promise<Seen> {
  let projects = new Map<string, string>();
  let looks = 0;

  const listProjects = async (): Promise<Map<string, string>> => {
    if (project !== undefined) {
      const { project: one } = await client.projects.get({ projectId: project });
      return new Map([[one.id, one.key]]);
    }
    const found = await Array.fromAsync(client.projects.list.all({}), ({ id, key }): [string, string] => [
      id,
      key,
    ]);
    return new Map(found);
  };

  return async () => {
    if (looks % looksPerList === 0) projects = await listProjects();
    looks += 1;
    const [{ org, serverTime }, active, locks] = await Promise.all([
      client.session.identity(),
      client.agents.listActive({ limit: 200, ...(project !== undefined && { projectId: project }) }),
      eachOf([...projects.keys()], (projectId) => client.locks.list({ projectId, limit: 200 })),
    ]);
    const ids = new Set(active.items.map(({ executionId }) => executionId).filter((id) => id !== null));
    const executions = await eachOf([...ids], (executionId) =>
      client.deliveryExecutions.get({ executionId }),
    );
    return {
      org: org.name,
      at: serverTime,
      projects,
      runs: active.items,
      executions: executions.map(({ execution }) => execution),
      locks: locks.flatMap(({ items }) => items),
    };
  };
}
