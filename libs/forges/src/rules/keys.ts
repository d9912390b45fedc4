/** How branches and titles name the work that they are about. */
import { type Fact } from './fact.ts';

const work = /^muster\/([a-z][a-z0-9]{1,9})-(\d{1,9})-e(\d{1,9})(?:-|$)/i;
const storyKey = /(?<![a-z0-9])([a-z][a-z0-9]{1,9})-(\d{1,9})(?![a-z0-9])/gi;
const mostKeys = 20;

/** The story and the epoch that `muster/<key>-e<epoch>-<slug>` names, in this project. */
export function branchOfWork(
  branch: string | null,
  projectKey: string,
): { readonly number: number; readonly epoch: number } | undefined {
  const [, key = '', number, epoch] = work.exec(branch ?? '') ?? [];
  return key.toUpperCase() === projectKey ? { number: Number(number), epoch: Number(epoch) } : undefined;
}

/** Keys of stories, of whatever project: `WEB-42`. */
export const storyKeysIn = (...texts: readonly (string | null)[]): string[] => {
  const keys = texts.flatMap((text) =>
    [...(text ?? '').matchAll(storyKey)].map(([key]) => key.toUpperCase()),
  );
  return [...new Set(keys)].slice(0, mostKeys);
};

/** The numbers of the stories of a project that texts name. */
export const storyNumbersIn = (projectKey: string, ...texts: readonly (string | null)[]): number[] =>
  storyKeysIn(...texts)
    .filter((key) => key.startsWith(`${projectKey}-`))
    .map((key) => Number(key.slice(projectKey.length + 1)))
    .filter((number) => number <= 2_147_483_647);

/** By what an execution may be found for a fact that waits; what is foreign waits for its pull request to be handed in. */
export function waitingKeys({ isForeign, trailers, branch, url, number, title }: Fact): string[] {
  const pull = url === null || number === null ? [] : [`pull:${number}`];
  if (isForeign) return pull;
  const stories = storyKeysIn(branch, url === null ? null : title);
  return [
    ...trailers.map((id) => `id:${id}`),
    ...(branch === null ? [] : [`branch:${branch}`]),
    ...pull,
    ...stories.map((key) => `story:${key}`),
  ];
}
