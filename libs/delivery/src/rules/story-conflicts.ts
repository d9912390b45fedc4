/** Finds stories that would change the same paths as the work of others, or as other stories. */
import { type ConflictSource } from '@muster/contract';
import { type StepBudget } from './glob-intersection.ts';
import {
  fileResource,
  findWitness,
  parseResource,
  type Resource,
  undefinedIfTooComplex,
} from './lock-resources.ts';

/** Paths, globs and names that a story, a lock or work covers. */
export interface CoveredResources {
  readonly source: ConflictSource;
  /** The story that they belong to; null if there is none. */
  readonly storyId: string | null;
  /** True if the resources are names of files, in which every character is literal. */
  readonly areFiles: boolean;
  readonly resources: readonly string[];
}

interface ResourceOf<Owner> extends Resource {
  readonly owner: Owner;
}

const resourcesOf = <Owner>(
  owner: Owner,
  { resources, areFiles }: Pick<CoveredResources, 'resources' | 'areFiles'>,
): ResourceOf<Owner>[] =>
  resources.map((text) => ({ ...(areFiles ? fileResource(text) : parseResource(text)), owner }));

/** The cost of a comparison that needs no glob, in steps of the budget. */
const stepsPerPair = 1 / 32;

/** A conflict of a story with something that others cover. */
export interface StoryConflict<Owner> {
  /** A path or name that both have in common; null if the patterns are too expensive to compare. */
  readonly witness: string | null;
  readonly with: Owner | null;
}

/** The conflict of a story that is too expensive to compare. */
export const unknownConflict: StoryConflict<never> = { witness: null, with: null };

/** Returns what a story would touch, prepared for comparison. */
export const touchedResources = (touches: readonly string[]): Resource[] => touches.map(parseResource);

/**
 * Returns the prefixes without those that begin with another one. A text that meets a longer prefix also meets
 * the shorter one.
 */
export function shortestPrefixes(prefixes: readonly string[]): string[] {
  const shortest: string[] = [];
  for (const prefix of prefixes.toSorted(compareTexts)) {
    const last = shortest.at(-1);
    if (last === undefined || !prefix.startsWith(last)) shortest.push(prefix);
  }
  return shortest;
}

/** Returns what others cover, prepared for comparison. */
export const resourcesOfOthers = <Owner extends CoveredResources>(
  covered: readonly Owner[],
): ResourceOf<Owner>[] => covered.flatMap((owner) => resourcesOf(owner, owner));

/**
 * Finds a resource of others that shares a path with what a story touches. Resources that belong to the story
 * do not count. Patterns that are too expensive to compare count as a conflict.
 */
export function findStoryConflict<Owner extends CoveredResources>(
  story: { readonly storyId: string; readonly touches: readonly Resource[] },
  others: readonly ResourceOf<Owner>[],
  stepBudget: StepBudget,
): StoryConflict<Owner> | undefined {
  const found = undefinedIfTooComplex(() => {
    for (const other of others) {
      if (other.owner.storyId === story.storyId) continue;
      for (const own of story.touches) {
        stepBudget.spend(stepsPerPair);
        const witness = findWitness(own, other, stepBudget);
        if (witness !== undefined) return { conflict: { witness, with: other.owner } };
      }
    }
    return { conflict: undefined };
  });
  return found === undefined ? unknownConflict : found.conflict;
}

/** Two stories that have a path in common. */
interface ConflictingStories<Story> {
  readonly a: Story;
  readonly b: Story;
  readonly witness: string;
  readonly source: ConflictSource;
}

interface ResourceOfStory<Story> extends ResourceOf<Story> {
  readonly source: ConflictSource;
  /** The position of the story in the list. */
  readonly storyIndex: number;
}

/** The sources in order, from declared to observed. A pair names the later one of its two sources. */
const sourceOrder: readonly ConflictSource[] = ['touches', 'lock', 'files', 'pull_request'];
const rankOf = (source: ConflictSource): number => sourceOrder.indexOf(source);

interface PairSearch<Story> {
  readonly isExcludedPair: (one: Story, other: Story) => boolean;
  readonly stepBudget: StepBudget;
  readonly maxPairs: number;
}

/**
 * Finds the pairs of stories that have a path in common, each once. Sources that come earlier in the order
 * are preferred. `isComplete` is false if the search stopped at the maximum number of pairs or at the budget.
 *
 * Resources are sorted by their literal prefixes. Two resources can only overlap if one prefix begins with
 * the other, so each resource is compared with those that follow it until the prefixes differ.
 */
export function findConflictingStories<Story extends { readonly resources: readonly CoveredResources[] }>(
  stories: readonly Story[],
  { isExcludedPair: isLeftOut, stepBudget, maxPairs }: PairSearch<Story>,
): { readonly pairs: ConflictingStories<Story>[]; readonly isComplete: boolean } {
  const sorted = stories
    .flatMap((story, nth) =>
      story.resources.flatMap((covered) =>
        resourcesOf(story, covered).map((resource): ResourceOfStory<Story> => ({
          ...resource,
          source: covered.source,
          storyIndex: nth,
        })),
      ),
    )
    .sort((one, other) => compareTexts(one.literalPrefix, other.literalPrefix));
  const found = new Map<string, ConflictingStories<Story>>();
  const isComplete = undefinedIfTooComplex(() => {
    for (const [at, one] of sorted.entries()) {
      for (let next = at + 1; next < sorted.length; next += 1) {
        const other = sorted[next];
        stepBudget.spend(stepsPerPair);
        if (other === undefined || !other.literalPrefix.startsWith(one.literalPrefix)) break;
        if (other.storyIndex === one.storyIndex || isLeftOut(one.owner, other.owner)) continue;
        const [first, second] = one.storyIndex < other.storyIndex ? [one, other] : [other, one];
        const source = rankOf(one.source) < rankOf(other.source) ? other.source : one.source;
        const name = `${first.storyIndex} ${second.storyIndex}`;
        const known = found.get(name);
        if (known !== undefined && rankOf(known.source) <= rankOf(source)) continue;
        const witness = findWitness(one, other, stepBudget);
        if (witness === undefined) continue;
        if (known === undefined && found.size === maxPairs) return false;
        found.set(name, { a: first.owner, b: second.owner, witness, source });
      }
    }
    return true;
  });
  return { pairs: [...found.values()], isComplete: isComplete === true };
}

const compareTexts = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Returns a function that tells if one of two stories waits for the other, directly or through others. */
export function createWaitingCheck(
  waits: readonly { readonly storyId: string; readonly blockerId: string }[],
): (storyId: string, otherId: string) => boolean {
  const blockersOf = Map.groupBy(waits, ({ storyId }) => storyId);
  const reachable = new Map<string, ReadonlySet<string>>();
  const blockersBehind = (storyId: string): ReadonlySet<string> => {
    const known = reachable.get(storyId);
    if (known !== undefined) return known;
    const seen = new Set<string>();
    const queue = [storyId];
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
      for (const { blockerId } of blockersOf.get(id) ?? []) {
        if (seen.has(blockerId)) continue;
        seen.add(blockerId);
        queue.push(blockerId);
      }
    }
    reachable.set(storyId, seen);
    return seen;
  };
  return (storyId, otherId) => blockersBehind(storyId).has(otherId) || blockersBehind(otherId).has(storyId);
}
