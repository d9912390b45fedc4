/** Fits the nesting of a tracker to stories, which nest one level deep. */

export interface Nesting {
  /** The parent of each item whose parent has no parent itself. */
  readonly parents: ReadonlyMap<string, string>;
  /** The parts of items that have a parent. Such an item waits for its parts instead. */
  readonly waits: ReadonlyMap<string, readonly string[]>;
}

/** Keeps the outermost level of the given parents. Keys and values are ids. */
export function flattenNesting(parents: ReadonlyMap<string, string>): Nesting {
  const [kept, nested] = [new Map<string, string>(), new Map<string, string[]>()];
  for (const [id, parent] of parents) {
    if (!parents.has(parent)) kept.set(id, parent);
    else nested.set(parent, [...(nested.get(parent) ?? []), id]);
  }
  return { parents: kept, waits: nested };
}
