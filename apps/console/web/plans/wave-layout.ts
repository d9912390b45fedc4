/** Places the stories of waves in columns, and chooses the dependencies that are drawn between them. */

export interface WaveLayout {
  /** The ids of the stories of each column, from top to bottom. */
  readonly columns: readonly (readonly string[])[];
  readonly positions: ReadonlyMap<string, { readonly column: number; readonly row: number }>;
  /** The dependencies to draw. Those that follow from others are left out. */
  readonly edges: readonly WaveEdge[];
}

export interface WaveEdge {
  readonly from: string;
  readonly to: string;
  readonly isCritical: boolean;
}

/** The ids of the stories that each story waits for. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Sweeps over the columns that sort stories next to those that they are connected with. */
const sweepCount = 4;

/**
 * Lays out columns from left to right; `waitsFor` may name only stories of earlier columns. The critical path runs
 * along the top. Below it, stories are close to those that they wait for, so that few lines cross.
 */
export function layoutWaves(
  waves: readonly (readonly string[])[],
  waitsFor: Dependencies,
  criticalPath: readonly string[],
): WaveLayout {
  const critical = new Set(criticalPath);
  const blocks = invert(waitsFor);
  let columns = waves.map((ids) =>
    ids.toSorted((one, other) => Number(critical.has(other)) - Number(critical.has(one))),
  );
  for (let sweep = 0; sweep < sweepCount; sweep += 1) {
    const isForward = sweep % 2 === 0;
    const neighbors = isForward ? waitsFor : blocks;
    const sorted = [...columns];
    for (const step of columns.keys()) {
      const at = isForward ? step : columns.length - 1 - step;
      const rows = new Map(sorted.flatMap((ids) => ids.map((id, row) => [id, row] as const)));
      const heightOf = (id: string): number => {
        if (critical.has(id)) return -1;
        const known = (neighbors.get(id) ?? []).flatMap((other) => rows.get(other) ?? []);
        return known.length === 0
          ? (rows.get(id) ?? 0)
          : known.reduce((sum, row) => sum + row, 0) / known.length;
      };
      sorted[at] = (sorted[at] ?? [])
        .map((id) => [id, heightOf(id)] as const)
        .toSorted(([, one], [, other]) => one - other)
        .map(([id]) => id);
    }
    columns = sorted;
  }
  return {
    columns,
    positions: new Map(
      columns.flatMap((ids, column) => ids.map((id, row) => [id, { column, row }] as const)),
    ),
    edges: reduceEdges(
      columns.flat(),
      waitsFor,
      new Set(criticalPath.slice(1).map((id, at) => `${criticalPath[at] ?? ''} ${id}`)),
    ),
  };
}

export function invert(waitsFor: Dependencies): Dependencies {
  const blocks = new Map<string, string[]>();
  for (const [id, blockers] of waitsFor)
    for (const blocker of blockers) {
      const known = blocks.get(blocker);
      if (known === undefined) blocks.set(blocker, [id]);
      else known.push(id);
    }
  return blocks;
}

/** Leaves out dependencies on stories that are also reached through another dependency. */
function reduceEdges(
  ids: readonly string[],
  waitsFor: Dependencies,
  criticalEdges: ReadonlySet<string>,
): WaveEdge[] {
  const ancestors = new Map<string, ReadonlySet<string>>();
  return ids.flatMap((to) => {
    const blockers = waitsFor.get(to) ?? [];
    const indirect = new Set(blockers.flatMap((blocker) => [...(ancestors.get(blocker) ?? [])]));
    ancestors.set(to, new Set([...indirect, ...blockers]));
    return blockers.flatMap((from) => {
      const isCritical = criticalEdges.has(`${from} ${to}`);
      return indirect.has(from) && !isCritical ? [] : [{ from, to, isCritical }];
    });
  });
}

/** Returns the story with everything that it waits for and everything that waits for it, also indirectly. */
export function findConnected(id: string, waitsFor: Dependencies): ReadonlySet<string> {
  const connected = new Set([id]);
  for (const neighbors of [waitsFor, invert(waitsFor)]) {
    const reached = new Set([id]);
    // The set grows while it is walked.
    for (const one of reached) for (const other of neighbors.get(one) ?? []) reached.add(other);
    for (const one of reached) connected.add(one);
  }
  return connected;
}

/** Returns the story that an arrow key leads to, the nearest one along a dependency; undefined if there is none in that direction. */
export function storyInDirection(
  { columns, positions }: WaveLayout,
  waitsFor: Dependencies,
  id: string,
  key: string,
): string | undefined {
  const position = positions.get(id);
  if (position === undefined) return undefined;
  const { column, row } = position;
  if (key === 'ArrowUp') return columns[column]?.[row - 1];
  if (key === 'ArrowDown') return columns[column]?.[row + 1];
  if (key !== 'ArrowLeft' && key !== 'ArrowRight') return undefined;
  const distanceTo = (other: string): number => {
    const to = positions.get(other);
    return to === undefined
      ? Infinity
      : Math.abs(to.column - column) * columns.flat().length + Math.abs(to.row - row);
  };
  const connected = (key === 'ArrowLeft' ? waitsFor : invert(waitsFor)).get(id) ?? [];
  if (connected.length > 0) return connected.toSorted((one, other) => distanceTo(one) - distanceTo(other))[0];
  const next = columns[column + (key === 'ArrowLeft' ? -1 : 1)];
  return next?.[Math.min(row, next.length - 1)];
}
