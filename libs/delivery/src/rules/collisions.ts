/** Finds collisions of a story's work: files that other work touches, and files under locks of others. */
import { type Collision } from '@muster/contract';
import { type StepBudget } from './glob-intersection.ts';
import {
  type LockClaim,
  fileResource,
  type Resource,
  parseResource,
  findOverlaps,
} from './lock-resources.ts';

/** A lock near the story. It belongs to the story's own work or to another holder. */
interface LockNearStory extends LockClaim {
  readonly id: string;
  readonly own: boolean;
  readonly storyId: string | null;
  readonly holder: Collision['holder'];
}

interface OtherWorkFiles {
  readonly executionId: string;
  readonly storyId: string | null;
  readonly holder: Collision['holder'];
  readonly files: readonly string[];
}

interface OtherResource extends Resource {
  readonly collision: Omit<Collision, 'path'>;
}

/**
 * Lists each path once for each lock or work that it collides with. `more` is true if the list stopped at
 * `most` entries. Locks that overlap with the story's own do not collide: they have the same holder, or all
 * of them are shared. Throws PatternsTooComplex.
 */
export function findCollisions(
  ownWork: { readonly files: readonly string[] },
  others: { readonly locks: readonly LockNearStory[]; readonly otherWorks: readonly OtherWorkFiles[] },
  stepBudget: StepBudget,
  maxCollisions: number,
): { readonly collisions: Collision[]; readonly more: boolean } {
  const files = ownWork.files.map(fileResource);
  const locked = others.locks
    .filter((lock) => lock.own)
    .flatMap(({ resources }) => resources.map(parseResource));
  const touched = others.otherWorks.flatMap(({ executionId: id, storyId, holder, files: theirs }) =>
    theirs.map((path): OtherResource => ({
      ...fileResource(path),
      collision: { kind: 'execution', id, storyId, holder },
    })),
  );
  const held = others.locks
    .filter((lock) => !lock.own)
    .flatMap(({ id, storyId, holder, resources }) =>
      resources.map((text): OtherResource => ({
        ...parseResource(text),
        collision: { kind: 'lock', id, storyId, holder },
      })),
    );
  const found = new Map<string, Collision>();
  const touching = [
    ...findOverlaps([...files, ...locked], touched, stepBudget, maxCollisions + 1),
    ...findOverlaps(files, held, stepBudget, maxCollisions + 1),
  ];
  for (const { otherResource, witness } of touching.slice(0, maxCollisions))
    found.set(`${otherResource.collision.id} ${witness}`, { path: witness, ...otherResource.collision });
  return { collisions: [...found.values()], more: touching.length > maxCollisions };
}
