/** Finds collisions of a story's work: files that other work touches, and files under locks of others. */
import { type Collision } from '@muster/registry';
import { type Effort } from './glob-intersection.ts';
import { type LockClaim, fileOf, type Resource, resourceOf, touches } from './lock-resources.ts';

/** A lock near the story. It belongs to the story's own work or to another holder. */
interface AroundLock extends LockClaim {
  readonly id: string;
  readonly own: boolean;
  readonly storyId: string | null;
  readonly holder: Collision['holder'];
}

interface OtherWork {
  readonly executionId: string;
  readonly storyId: string | null;
  readonly holder: Collision['holder'];
  readonly files: readonly string[];
}

interface Other extends Resource {
  readonly collision: Omit<Collision, 'path'>;
}

/**
 * Lists each path once for each lock or work that it collides with. `more` is true if the list stopped at
 * `most` entries. Locks that overlap with the story's own do not collide: they have the same holder, or all
 * of them are shared. Throws TooIntricate.
 */
export function collisionsOf(
  own: { readonly files: readonly string[] },
  others: { readonly locks: readonly AroundLock[]; readonly works: readonly OtherWork[] },
  effort: Effort,
  most: number,
): { readonly collisions: Collision[]; readonly more: boolean } {
  const files = own.files.map(fileOf);
  const locked = others.locks
    .filter((lock) => lock.own)
    .flatMap(({ resources }) => resources.map(resourceOf));
  const touched = others.works.flatMap(({ executionId: id, storyId, holder, files: theirs }) =>
    theirs.map((path): Other => ({ ...fileOf(path), collision: { kind: 'execution', id, storyId, holder } })),
  );
  const held = others.locks
    .filter((lock) => !lock.own)
    .flatMap(({ id, storyId, holder, resources }) =>
      resources.map((text): Other => ({
        ...resourceOf(text),
        collision: { kind: 'lock', id, storyId, holder },
      })),
    );
  const found = new Map<string, Collision>();
  const touching = [
    ...touches([...files, ...locked], touched, effort, most + 1),
    ...touches(files, held, effort, most + 1),
  ];
  for (const { b, witness } of touching.slice(0, most)) {
    found.set(`${b.collision.id} ${witness}`, { path: witness, ...b.collision });
  }
  return { collisions: [...found.values()], more: touching.length > most };
}
