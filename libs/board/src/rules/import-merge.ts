/** What becomes of an item that is put: three sides are compared, the source before, the source now, and the record here. */
import { createHash } from 'node:crypto';

/** What was noted of an item when it was put last. */
export interface Noted {
  /** Of what the source said then; null where that is not known. */
  readonly hash: Buffer | null;
  /** Of the record, as the import left it. */
  readonly version: number;
}

/** The record as it is now. */
export interface Here {
  readonly version: number;
  /** Work goes on by what it says: under a lease, offered, or handed in. */
  readonly isWorkedOn: boolean;
}

export type Verdict =
  | { readonly kind: 'create' }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'update' }
  | { readonly kind: 'keep'; readonly because: 'changed' | 'deleted' | 'worked_on' };

/** `here` is undefined where the record was deleted; `theirs` lets the source count against a change here. */
export function verdictOn(
  noted: Noted | undefined,
  here: Here | undefined,
  hash: Buffer,
  theirs: boolean,
): Verdict {
  if (noted === undefined) return { kind: 'create' };
  if (noted.hash?.equals(hash) === true) return { kind: 'unchanged' };
  if (here === undefined) return theirs ? { kind: 'create' } : { kind: 'keep', because: 'deleted' };
  if (here.isWorkedOn) return { kind: 'keep', because: 'worked_on' };
  if (here.version !== noted.version && !theirs) return { kind: 'keep', because: 'changed' };
  return { kind: 'update' };
}

/** What the source says, as a hash: fields that are left out are null, and the order of the rest is as it is written here. */
export const hashOf = (said: readonly unknown[]): Buffer =>
  createHash('sha256').update(JSON.stringify(said)).digest();

/** A wait of a story for another. */
export interface Wait {
  readonly storyId: string;
  readonly blockerId: string;
}

/**
 * The stories that could be in a circle: those that are left when what waits for none is taken away, again and again.
 * So what a long line of stories costs is its length, not the square of that.
 */
function circlers(waits: readonly Wait[]): ReadonlySet<string> {
  const left = new Map<string, number>();
  const waiting = new Map<string, string[]>();
  for (const { storyId, blockerId } of waits) {
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

/** Adds waits one by one to those that there are; answers which were added, and which would close a circle. */
export function addWaits(
  there: readonly Wait[],
  wanted: readonly Wait[],
): { readonly added: Wait[]; readonly circles: ReadonlySet<Wait> } {
  const waits = new Map<string, Set<string>>();
  const blockersOf = (storyId: string): Set<string> => {
    let blockers = waits.get(storyId);
    if (blockers === undefined) waits.set(storyId, (blockers = new Set()));
    return blockers;
  };
  for (const { storyId, blockerId } of there) blockersOf(storyId).add(blockerId);
  const suspects = circlers([...there, ...wanted]);
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
  const added: Wait[] = [];
  const circles = new Set<Wait>();
  for (const wait of wanted) {
    const { storyId, blockerId } = wait;
    if (blockersOf(storyId).has(blockerId)) continue;
    if (suspects.has(blockerId) && reaches(blockerId, storyId)) circles.add(wait);
    else {
      blockersOf(storyId).add(blockerId);
      added.push(wait);
    }
  }
  return { added, circles };
}
