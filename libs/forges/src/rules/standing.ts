/**
 * The status of the work at a head for the forge: whether it may be merged, and what is missing, in one line.
 */
import { type inside, isSameCommit, type ResultOf } from '@muster/registry';

export interface CommitStatus {
  readonly state: 'success' | 'pending' | 'failure';
  /** The text of the status. It has at most 140 characters, which is GitHub's limit. */
  readonly description: string;
}

/** The state of a story whose work is at the head. */
export interface StoryStanding extends ResultOf<typeof inside.mergeGate> {
  /** The files of the story's work on which other holders have a lock. */
  readonly lockedPaths: readonly string[];
  /** True if there are more locks than were examined. */
  readonly moreLocks: boolean;
}

/** The work at the head. */
export interface WorkStanding {
  /** The outcome of completed work, if it was not successful. */
  readonly endedAs: string | null;
  readonly stories: readonly StoryStanding[];
}

const mostCharacters = 140;
const weights = { success: 0, pending: 1, failure: 2 } as const;

/** Cuts the text at a whole character, because half of a surrogate pair is invalid. */
function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= mostCharacters ? text : `${characters.slice(0, mostCharacters - 1).join('')}…`;
}

/** Counts the fresh approvals of this commit. Approvals of other code do not count. */
const approvalsOf = ({ freshApprovals, headSha }: StoryStanding, sha: string): number =>
  headSha === null || isSameCommit(headSha, sha) ? freshApprovals : 0;

function approvalWords(story: StoryStanding, sha: string): string {
  const { requiredApprovals: required, staleVerdicts: stale } = story;
  const fresh = approvalsOf(story, sha);
  const counted = required === 0 && fresh === 0 ? 'no approval needed' : `${fresh} of ${required} approvals`;
  return stale === 0 ? counted : `${counted}, ${stale} stale`;
}

function lockWords({ lockedPaths, moreLocks }: StoryStanding): string {
  const [path] = lockedPaths;
  if (path === undefined) return moreLocks ? 'some locks were not checked' : 'no lock conflicts';
  return lockedPaths.length === 1
    ? `${path} is locked by others`
    : `${path} and ${lockedPaths.length - 1} more are locked by others`;
}

function ofStory(story: StoryStanding, sha: string): CommitStatus {
  const against = story.freshChangesRequested > 0;
  const isShort = approvalsOf(story, sha) < story.requiredApprovals;
  const isLocked = story.lockedPaths.length > 0;
  const parts = [
    ...(against ? [`changes requested by ${story.freshChangesRequested}`] : []),
    `spec v${story.specVersion}`,
    approvalWords(story, sha),
    lockWords(story),
  ];
  return {
    state: against || isLocked ? 'failure' : isShort ? 'pending' : 'success',
    description: parts.join(' · '),
  };
}

/**
 * Combines the statuses of all work at the head. The worst status is the result, and its story comes first in
 * the text.
 */
export function standingOf(works: readonly WorkStanding[], sha: string): CommitStatus {
  const ended = works.find(({ endedAs }) => endedAs !== null);
  if (ended !== undefined) return { state: 'failure', description: `the work has ended: ${ended.endedAs}` };
  const stories = works.flatMap((work) => work.stories);
  const judged = stories
    .map((story) => ({ key: story.key, ...ofStory(story, sha) }))
    .toSorted((a, b) => weights[b.state] - weights[a.state]);
  const [worst] = judged;
  if (worst === undefined) return { state: 'pending', description: 'this work has no story' };
  const missing = judged.filter(({ state }) => state !== 'success');
  const shown = missing.length > 0 ? missing : judged;
  const lines = shown.map(({ key, description }) =>
    judged.length === 1 ? description : `${key}: ${description}`,
  );
  return { state: worst.state, description: cut(lines.join('; ')) };
}
