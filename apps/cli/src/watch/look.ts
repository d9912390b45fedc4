/** A snapshot of the active work. */
import { type Client } from '@muster/client';
import { type ActiveRun, type ListedExecution, type Lock } from '@muster/contract';

export interface WatchSnapshot {
  readonly org: string;
  /** The time of the server's clock, by which leases and locks expire. */
  readonly at: string;
  readonly projects: ReadonlyMap<string, string>;
  readonly runs: readonly ActiveRun[];
  readonly executions: readonly ListedExecution[];
  readonly locks: readonly Lock[];
}

/** The states in which a lease is held, including expired leases. */
const heldStates = ['leased', 'waiting_input', 'stalled', 'offered'] as const;

/** The number of concurrent calls, kept low to limit the load. */
const maxConcurrentCalls = 4;

async function mapInBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += maxConcurrentCalls)
    results.push(...(await Promise.all(items.slice(start, start + maxConcurrentCalls).map(work))));
  return results;
}

/** The page size of the lists. No screen can show more rows. */
const listPageSize = 200;

/** Returns a function that takes a snapshot of one project, or of all projects that the caller may see. */
export function createSnapshotReader(
  client: Client,
  project: string | undefined,
): () => Promise<WatchSnapshot> {
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
    const projects = await listProjects();
    const where = project === undefined ? {} : { projectId: project };
    const [{ org, serverTime }, active, executions, locks] = await Promise.all([
      client.session.identity(),
      client.agents.listActive({ limit: listPageSize, ...where }),
      client.deliveryExecutions.list({ state: [...heldStates], limit: listPageSize, ...where }),
      mapInBatches([...projects.keys()], (projectId) =>
        client.locks.list({ projectId, limit: listPageSize }),
      ),
    ]);
    return {
      org: org.name,
      at: serverTime,
      projects,
      runs: active.items,
      executions: executions.items,
      locks: locks.flatMap(({ items }) => items),
    };
  };
}
