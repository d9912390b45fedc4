/** Orders work by its dependencies: cycles, waves and the critical path. Reads and writes no data. */

/** A piece of work. Blockers that are not among the nodes are ignored. */
export interface WorkNode {
  readonly id: string;
  /** The ids of the nodes that must be finished first. */
  readonly blockers: readonly string[];
  /** The length of the node in the critical path. */
  readonly weight: number;
}

interface WorkOrder {
  /** The wave of each node, from 0. It is the number of nodes in the longest chain before the node. */
  readonly waveById: ReadonlyMap<string, number>;
  /** The ids of the chain with the greatest weight, in the order of work. */
  readonly criticalPath: readonly string[];
}

/**
 * Finds nodes that wait for each other. Returns them in the order of their dependencies, with the first one
 * repeated at the end; undefined without a cycle.
 */
export function findCycle(nodes: readonly Pick<WorkNode, 'id' | 'blockers'>[]): string[] | undefined {
  const blockersById = new Map(nodes.map(({ id, blockers }) => [id, blockers]));
  const finished = new Set<string>();
  for (const { id: start } of nodes) {
    if (finished.has(start)) continue;
    // The path of the depth-first search, with the next blocker to visit of each node. It is no recursion,
    // because a chain can be longer than the call stack.
    const path: { readonly id: string; next: number }[] = [{ id: start, next: 0 }];
    const onPath = new Set([start]);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const blocker = blockersById.get(step.id)?.[step.next];
      step.next += 1;
      if (blocker === undefined) {
        finished.add(step.id);
        onPath.delete(step.id);
        path.pop();
      } else if (onPath.has(blocker)) {
        const ids = path.map(({ id }) => id);
        return [...ids.slice(ids.indexOf(blocker)), blocker];
      } else if (!finished.has(blocker) && blockersById.has(blocker)) {
        path.push({ id: blocker, next: 0 });
        onPath.add(blocker);
      }
    }
  }
  return undefined;
}

/** The heaviest chain that ends with a node. */
interface Chain {
  readonly weight: number;
  readonly length: number;
  /** The node before the last one. */
  readonly previousId: string | null;
}

const isHeavier = (chain: Chain, other: Chain): boolean =>
  chain.weight > other.weight || (chain.weight === other.weight && chain.length > other.length);

/** Lists the nodes so that each comes after its blockers. Nodes that wait for a cycle are left out. */
function sortByDependencies(nodes: readonly WorkNode[]): WorkNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const openCounts = new Map<string, number>();
  const waiting = new Map<string, WorkNode[]>();
  const sorted: WorkNode[] = [];
  for (const node of nodes) {
    const blockers = new Set(node.blockers.filter((id) => byId.has(id)));
    openCounts.set(node.id, blockers.size);
    for (const id of blockers) {
      const others = waiting.get(id);
      if (others === undefined) waiting.set(id, [node]);
      else others.push(node);
    }
    if (blockers.size === 0) sorted.push(node);
  }
  // The list grows while it is walked.
  for (const { id } of sorted) {
    for (const node of waiting.get(id) ?? []) {
      const openCount = (openCounts.get(node.id) ?? 0) - 1;
      openCounts.set(node.id, openCount);
      if (openCount === 0) sorted.push(node);
    }
  }
  return sorted;
}

/** Computes waves and the critical path. Nodes in a cycle, or behind one, form the last wave. */
export function orderWork(nodes: readonly WorkNode[]): WorkOrder {
  const waveById = new Map<string, number>();
  const chains = new Map<string, Chain>();
  let longest: { readonly id: string; readonly chain: Chain } | undefined;
  let waveCount = 0;
  for (const { id, blockers, weight } of sortByDependencies(nodes)) {
    let wave = 0;
    let before: Chain = { weight: 0, length: 0, previousId: null };
    for (const blocker of blockers) {
      const chain = chains.get(blocker);
      if (chain === undefined) continue;
      wave = Math.max(wave, (waveById.get(blocker) ?? 0) + 1);
      if (isHeavier(chain, before)) before = { ...chain, previousId: blocker };
    }
    const chain = { ...before, weight: before.weight + weight, length: before.length + 1 };
    waveById.set(id, wave);
    chains.set(id, chain);
    waveCount = Math.max(waveCount, wave + 1);
    if (longest === undefined || isHeavier(chain, longest.chain)) longest = { id, chain };
  }
  for (const { id } of nodes) if (!waveById.has(id)) waveById.set(id, waveCount);
  const criticalPath: string[] = [];
  for (let id = longest?.id ?? null; id !== null; id = chains.get(id)?.previousId ?? null)
    criticalPath.push(id);
  return { waveById, criticalPath: criticalPath.reverse() };
}

/** An open story with what its order depends on. */
export interface OpenStory {
  readonly id: string;
  readonly estimate: number | null;
  readonly blockerIds: readonly string[];
  readonly parentId: string | null;
}

/** The waves and the critical path of selected stories. */
interface StoryOrder {
  /** The waves that contain selected stories. `index` counts the waves of all stories. */
  readonly waves: readonly { readonly index: number; readonly storyIds: readonly string[] }[];
  readonly criticalPath: readonly string[];
  /** The number of selected stories that wait for an open story. */
  readonly blockedCount: number;
}

/**
 * Orders the selected ones among all open stories of a project, whose dependencies can lead through stories
 * that are not selected. A parent comes after its children. Stories of a wave keep the order of the list.
 */
export function orderStories(
  openStories: readonly OpenStory[],
  isSelected: (storyId: string) => boolean,
): StoryOrder {
  const openIds = new Set(openStories.map(({ id }) => id));
  const childIds = Map.groupBy(openStories, ({ parentId }) => parentId);
  const order = orderWork(
    openStories.map(({ id, estimate, blockerIds }) => ({
      id,
      blockers: [...blockerIds, ...(childIds.get(id) ?? []).map((child) => child.id)],
      weight: isSelected(id) ? (estimate ?? 1) : 0,
    })),
  );
  const selected = openStories.filter(({ id }) => isSelected(id));
  const byWave = Map.groupBy(selected, ({ id }) => order.waveById.get(id) ?? 0);
  return {
    waves: [...byWave]
      .sort(([one], [other]) => one - other)
      .map(([index, stories]) => ({ index, storyIds: stories.map(({ id }) => id) })),
    criticalPath: order.criticalPath.filter(isSelected),
    blockedCount: selected.filter(({ blockerIds }) => blockerIds.some((id) => openIds.has(id))).length,
  };
}
