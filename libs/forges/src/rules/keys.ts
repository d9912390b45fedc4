/** The keys by which branch names and titles name work. */
import { type DeliveryFact } from './fact.ts';

const workBranchPattern = /^muster\/([a-z][a-z0-9]{1,9})-(\d{1,9})-e(\d{1,9})(?:-|$)/i;
const storyKeyPattern = /(?<![a-z0-9])([a-z][a-z0-9]{1,9})-(\d{1,9})(?![a-z0-9])/gi;
const maxStoryKeys = 20;

/**
 * Parses the story and the epoch from the branch name `muster/<key>-e<epoch>-<slug>`, for this project only.
 */
export function parseWorkBranch(
  branch: string | null,
  projectKey: string,
): { readonly number: number; readonly epoch: number } | undefined {
  const [, key = '', number, epoch] = workBranchPattern.exec(branch ?? '') ?? [];
  return key.toUpperCase() === projectKey ? { number: Number(number), epoch: Number(epoch) } : undefined;
}

/** Returns the story keys in the texts, such as `WEB-42`, of any project. */
export const findStoryKeys = (...texts: readonly (string | null)[]): string[] => {
  const keys = texts.flatMap((text) =>
    [...(text ?? '').matchAll(storyKeyPattern)].map(([key]) => key.toUpperCase()),
  );
  return [...new Set(keys)].slice(0, maxStoryKeys);
};

/** Returns the numbers of the project's stories that the texts name. */
export const findStoryNumbers = (projectKey: string, ...texts: readonly (string | null)[]): number[] =>
  findStoryKeys(...texts)
    .filter((key) => key.startsWith(`${projectKey}-`))
    .map((key) => Number(key.slice(projectKey.length + 1)))
    .filter((number) => number <= 2_147_483_647);

/**
 * Returns the keys by which an execution may later be found for a fact that matches no execution yet. A fact from a
 * fork can match only after a worker has submitted its pull request.
 */
export function createWaitKeys({ isForeign, trailers, branch, url, number, title }: DeliveryFact): string[] {
  const pull = url === null || number === null ? [] : [`pull:${number}`];
  if (isForeign) return pull;
  const stories = findStoryKeys(branch, url === null ? null : title);
  return [
    ...trailers.map((id) => `id:${id}`),
    ...(branch === null ? [] : [`branch:${branch}`]),
    ...pull,
    ...stories.map((key) => `story:${key}`),
  ];
}
