/** Fits the nesting of a tracker to stories, which nest one level deep. */

export interface Nesting {
  /** The parent of each item whose parent has no parent itself. */
  readonly parents: ReadonlyMap<string, string>;
  /** The parts of items that have a parent. Such an item waits for its parts instead. */
  readonly blockersById: ReadonlyMap<string, readonly string[]>;
}

/** Adds an item to the list of a key. */
export function appendTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Keeps the outermost level of the given parents. Keys and values are ids. */
export function flattenNesting(parents: ReadonlyMap<string, string>): Nesting {
  const [kept, nested] = [new Map<string, string>(), new Map<string, string[]>()];
  for (const [id, parent] of parents) {
    if (!parents.has(parent)) kept.set(id, parent);
    else appendTo(nested, parent, id);
  }
  return { parents: kept, blockersById: nested };
}
