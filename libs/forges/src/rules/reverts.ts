import { type Revert } from './fact.ts';

/**
 * Merged changes that a pull request or a commit takes back, by the sentences that forges and git write for it: `Reverts acme/api#7`,
 * `This reverts merge request !7`, `This reverts commit <sha>`. Examples in code, quotes and comments revert nothing.
 */
const sentence =
  /^(?:Reverts (?<repository>[\w.-]+\/[\w.-]+)?#|This reverts merge request !)(?<number>\d{1,9})\b|^This reverts commit (?<sha>[0-9a-f]{40}|[0-9a-f]{64})\b/gim;
const notText = /<!--[\s\S]*?(?:-->|(?![\s\S]))|^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))/gm;
const mostReverted = 20;
/** Git and forges begin the message of such a commit so. */
const isRevert = ({ message }: PushedCommit): boolean => /^Revert "/i.test(message ?? '');

/** Numbers of pull requests of this repository, and full ids of merge commits. */
export function revertsIn(text: string | null | undefined, repository: string): string[] {
  const found = [...(text ?? '').replace(notText, '').matchAll(sentence)].flatMap(({ groups = {} }) => {
    const { repository: other, number, sha } = groups;
    const isHere = other === undefined || other.toLowerCase() === repository.toLowerCase();
    return isHere ? (number ?? sha?.toLowerCase() ?? []) : [];
  });
  return [...new Set(found)].slice(0, mostReverted);
}

interface PushedCommit {
  readonly message?: string | null | undefined;
  readonly url?: string | null | undefined;
}

/** The commits of a push to a branch that revert others; undefined where none does. */
export function revertsOfPush(
  commits: readonly PushedCommit[],
  { branch, defaultBranch, repository }: { branch: string; defaultBranch: string | null; repository: string },
): Revert | undefined {
  const reverting = commits.filter(isRevert);
  const reverts = [...new Set(reverting.flatMap(({ message }) => revertsIn(message, repository)))];
  if (reverts.length === 0) return undefined;
  return { base: branch, defaultBranch, number: null, url: reverting[0]?.url ?? null, reverts };
}
