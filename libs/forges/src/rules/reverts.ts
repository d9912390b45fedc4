import { type Revert } from './fact.ts';

/**
 * The sentences that forges and git write for a revert of merged changes: `Reverts acme/api#7`, `This reverts
 * merge request !7`, `This reverts commit <sha>`. Examples in code, quotes and comments are ignored.
 */
const revertSentencePattern =
  /^(?:Reverts (?<repository>[\w.-]+\/[\w.-]+)?#|This reverts merge request !)(?<number>\d{1,9})\b|^This reverts commit (?<sha>[0-9a-f]{40}|[0-9a-f]{64})\b/gim;
const nonProsePattern =
  /<!--[\s\S]*?(?:-->|(?![\s\S]))|^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))/gm;
const maxReverts = 20;
/** Returns true if the message begins as git and forges write it for a revert. */
const isRevert = ({ message }: PushedCommit): boolean => /^Revert "/i.test(message ?? '');

/**
 * Returns the numbers of reverted pull requests of this repository, and the full ids of reverted merge
 * commits.
 */
export function findReverts(text: string | null | undefined, repository: string): string[] {
  const found = [...(text ?? '').replace(nonProsePattern, '').matchAll(revertSentencePattern)].flatMap(
    ({ groups = {} }) => {
      const { repository: other, number, sha } = groups;
      const isHere = other === undefined || other.toLowerCase() === repository.toLowerCase();
      return isHere ? (number ?? sha?.toLowerCase() ?? []) : [];
    },
  );
  return [...new Set(found)].slice(0, maxReverts);
}

interface PushedCommit {
  readonly message?: string | null | undefined;
  readonly url?: string | null | undefined;
}

/** Returns the reverts in the commits of a push to a branch; undefined if there are none. */
export function findRevertsInPush(
  commits: readonly PushedCommit[],
  { branch, defaultBranch, repository }: { branch: string; defaultBranch: string | null; repository: string },
): Revert | undefined {
  const reverting = commits.filter(isRevert);
  const reverts = [...new Set(reverting.flatMap(({ message }) => findReverts(message, repository)))];
  if (reverts.length === 0) return undefined;
  return { base: branch, defaultBranch, number: null, url: reverting[0]?.url ?? null, reverts };
}
