/**
 * Decides about an imported item by a three-way comparison: the source at the last import, the source now,
 * and the record.
 */
import { createHash } from 'node:crypto';

/** The state of an item noted at its last import. */
export interface ImportedState {
  /** The hash of the source's content at the last import; null if it is unknown. */
  readonly hash: Buffer | null;
  /** The version of the record after the last import. */
  readonly version: number;
}

/** The record as it is stored now. */
export interface CurrentRecord {
  readonly version: number;
  /** True if work depends on the record: it is leased, offered or submitted. */
  readonly isWorkedOn: boolean;
}

export type MergeDecision =
  | { readonly kind: 'create' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'update' }
  | { readonly kind: 'keep'; readonly because: 'changed' | 'deleted' | 'worked_on' };

/**
 * Decides about an item. `here` is undefined if the record was deleted. `theirs` lets the source win over
 * local changes.
 */
export function decideMerge(
  importedState: ImportedState | undefined,
  currentRecord: CurrentRecord | undefined,
  hash: Buffer,
  sourceWins: boolean,
): MergeDecision {
  if (importedState === undefined) return { kind: 'create' };
  if (importedState.hash?.equals(hash) === true) return { kind: 'unchanged' };
  if (currentRecord === undefined)
    return sourceWins ? { kind: 'create' } : { kind: 'keep', because: 'deleted' };
  if (currentRecord.isWorkedOn) return { kind: 'keep', because: 'worked_on' };
  if (currentRecord.version !== importedState.version && !sourceWins)
    return { kind: 'keep', because: 'changed' };
  return { kind: 'update' };
}

/**
 * Returns the hash of the source's content. The caller passes the fields in a fixed order, with null for
 * missing ones.
 */
export const hashFields = (fields: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(fields)).digest();

/** A story's dependency on a blocker. */
export interface StoryDependency {
  readonly storyId: string;
  readonly blockerId: string;
}

/**
 * Returns the stories that could be part of a cycle. It repeatedly removes stories without blockers and
 * returns the rest, so the cost of a long chain is linear and not quadratic.
 */
function findPossibleCycleMembers(dependencies: readonly StoryDependency[]): ReadonlySet<string> {
  const left = new Map<string, number>();
  const waiting = new Map<string, string[]>();
  for (const { storyId, blockerId } of dependencies) {
    left.set(storyId, (left.get(storyId) ?? 0) + 1);
    const those = waiting.get(blockerId);
    if (those === undefined) waiting.set(blockerId, [storyId]);
    else those.push(storyId);
  }
  const free = [...waiting.keys()].filter((id) => !left.has(id));
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    for (const storyId of waiting.get(id) ?? []) {
      const count = (left.get(storyId) ?? 0) - 1;
      if (count > 0) left.set(storyId, count);
      else {
        left.delete(storyId);
        free.push(storyId);
      }
    }
  }
  return new Set(left.keys());
}

/** Adds dependencies one by one. Returns those that were added and those that would close a cycle. */
export function addDependenciesWithoutCycles(
  existingDependencies: readonly StoryDependency[],
  newDependencies: readonly StoryDependency[],
): {
  readonly addedDependencies: StoryDependency[];
  readonly cyclicDependencies: ReadonlySet<StoryDependency>;
} {
  const waits = new Map<string, Set<string>>();
  const blockersOf = (storyId: string): Set<string> => {
    let blockers = waits.get(storyId);
    if (blockers === undefined) waits.set(storyId, (blockers = new Set()));
    return blockers;
  };
  for (const { storyId, blockerId } of existingDependencies) blockersOf(storyId).add(blockerId);
  const suspects = findPossibleCycleMembers([...existingDependencies, ...newDependencies]);
  const reaches = (from: string, to: string): boolean => {
    const seen = new Set<string>();
    const open = [from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === to) return true;
      if (seen.has(id)) continue;
      seen.add(id);
      open.push(...(waits.get(id) ?? []));
    }
    return false;
  };
  const added: StoryDependency[] = [];
  const circles = new Set<StoryDependency>();
  for (const wait of newDependencies) {
    const { storyId, blockerId } = wait;
    if (blockersOf(storyId).has(blockerId)) continue;
    if (suspects.has(blockerId) && reaches(blockerId, storyId)) circles.add(wait);
    else {
      blockersOf(storyId).add(blockerId);
      added.push(wait);
    }
  }
  return { addedDependencies: added, cyclicDependencies: circles };
}
