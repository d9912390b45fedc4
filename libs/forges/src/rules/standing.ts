/**
 * The status that the forge shows at a head commit: whether the work at this commit may be merged, and what
 * is missing, in one line.
 */
import { type internalOperations, isSameCommit, type ResultOf } from '@muster/contract';

export interface CommitStatus {
  readonly state: 'success' | 'pending' | 'failure';
  /** The text of the status. It has at most 140 characters, which is GitHub's limit. */
  readonly description: string;
}

/** The state of a story whose work is at the head commit. */
export interface StoryMergeState extends ResultOf<typeof internalOperations.mergeGate> {
  /** The files of the story's work on which other holders have a lock. */
  readonly lockedPaths: readonly string[];
  /** True if there are more locks than were examined. */
  readonly hasMoreLocks: boolean;
}

/** The work at the head commit. */
export interface WorkMergeState {
  /** The outcome of completed work, if it was not successful. */
  readonly endedAs: string | null;
  readonly stories: readonly StoryMergeState[];
}

const maxDescriptionLength = 140;
const stateSeverity = { success: 0, pending: 1, failure: 2 } as const;

/** Cuts the text at a whole character, because half of a surrogate pair is invalid. */
function truncateDescription(text: string): string {
  const characters = Array.from(text);
  return characters.length <= maxDescriptionLength
    ? text
    : `${characters.slice(0, maxDescriptionLength - 1).join('')}…`;
}

/** Counts the fresh approvals of this commit. Approvals of other code do not count. */
const countApprovals = ({ freshApprovals, headSha }: StoryMergeState, sha: string): number =>
  headSha === null || isSameCommit(headSha, sha) ? freshApprovals : 0;

function approvalText(story: StoryMergeState, sha: string): string {
  const { requiredApprovals: required, staleVerdicts: stale } = story;
  const fresh = countApprovals(story, sha);
  const counted = required === 0 && fresh === 0 ? 'no approval needed' : `${fresh} of ${required} approvals`;
  return stale === 0 ? counted : `${counted}, ${stale} stale`;
}

function lockText({ lockedPaths, hasMoreLocks }: StoryMergeState): string {
  const [path] = lockedPaths;
  if (path === undefined) return hasMoreLocks ? 'some locks were not checked' : 'no lock conflicts';
  return lockedPaths.length === 1
    ? `${path} is locked by others`
    : `${path} and ${lockedPaths.length - 1} more are locked by others`;
}

function storyCommitStatus(story: StoryMergeState, sha: string): CommitStatus {
  const against = story.freshChangesRequested > 0;
  const isShort = countApprovals(story, sha) < story.requiredApprovals;
  const isLocked = story.lockedPaths.length > 0;
  const parts = [
    ...(against ? [`changes requested by ${story.freshChangesRequested}`] : []),
    `spec v${story.specVersion}`,
    approvalText(story, sha),
    lockText(story),
  ];
  return {
    state: against || isLocked ? 'failure' : isShort ? 'pending' : 'success',
    description: parts.join(' · '),
  };
}

/**
 * Combines the statuses of all work at the head commit. The worst status is the result, and its story comes first in
 * the text.
 */
export function combineWorkStatus(works: readonly WorkMergeState[], sha: string): CommitStatus {
  const ended = works.find(({ endedAs }) => endedAs !== null);
  if (ended !== undefined) return { state: 'failure', description: `the work has ended: ${ended.endedAs}` };
  const stories = works.flatMap((work) => work.stories);
  const judged = stories
    .map((story) => ({ key: story.key, ...storyCommitStatus(story, sha) }))
    .toSorted((a, b) => stateSeverity[b.state] - stateSeverity[a.state]);
  const [worst] = judged;
  if (worst === undefined) return { state: 'pending', description: 'this work has no story' };
  const missing = judged.filter(({ state }) => state !== 'success');
  const listedStories = missing.length > 0 ? missing : judged;
  const lines = listedStories.map(({ key, description }) =>
    judged.length === 1 ? description : `${key}: ${description}`,
  );
  return { state: worst.state, description: truncateDescription(lines.join('; ')) };
}
