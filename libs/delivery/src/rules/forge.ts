/**
 * The state of a forge's facts. Facts arrive late, more than once and in any order, and each aspect keeps its
 * newest fact by time of observation. The order of arrival decides only between facts of one kind and time. A
 * merge is final: later facts about the pull request change nothing.
 */
import {
  type CodeUnderReview,
  type ForgeAspect,
  type ForgeFact,
  type ForgeState,
  isSameCommit,
  needsVerifiedMerge,
  type ObservationKind,
  type Policy,
  type Rework,
  type ForgeHeadFact,
} from '@muster/contract';

/**
 * The aspect that each kind of fact is about. Of two facts with the same time, the one with the higher weight
 * wins.
 */
const aspectsByKind: Readonly<
  Record<ObservationKind, { readonly aspect: ForgeAspect; readonly weight: number }>
> = {
  branch_pushed: { aspect: 'branch', weight: 0 },
  pr_opened: { aspect: 'pullRequest', weight: 0 },
  pr_updated: { aspect: 'pullRequest', weight: 1 },
  pr_reopened: { aspect: 'pullRequest', weight: 2 },
  pr_closed: { aspect: 'pullRequest', weight: 3 },
  pr_merged: { aspect: 'pullRequest', weight: 4 },
  checks_passed: { aspect: 'checks', weight: 0 },
  checks_failed: { aspect: 'checks', weight: 1 },
  merge_conflict: { aspect: 'merging', weight: 0 },
  review_approved: { aspect: 'review', weight: 0 },
  changes_requested: { aspect: 'review', weight: 1 },
  // A dismissal has the time of the review that it dismisses.
  review_dismissed: { aspect: 'review', weight: 2 },
};

/**
 * Reports whether the arriving fact `a` replaces the known fact `b` of the same aspect. If everything else is
 * equal, the later arrival wins.
 */
function replacesKnownFact(arriving: ForgeFact, current: ForgeFact): boolean {
  const isMerge = (fact: ForgeFact): boolean => fact.kind === 'pr_merged';
  if (isMerge(arriving) !== isMerge(current)) return isMerge(arriving);
  if (arriving.at !== current.at) return arriving.at > current.at;
  const [revA = -1, revB = -1] = [arriving.rev, current.rev];
  if (revA !== revB) return revA > revB;
  const weight = aspectsByKind[arriving.kind].weight - aspectsByKind[current.kind].weight;
  return weight === 0 ? arriving.dedupeKey !== current.dedupeKey : weight > 0;
}

/**
 * Returns the head commit that a fact shows; undefined if it shows none. A push without a commit only shows
 * that the head changed.
 */
export function toSeenHead({ kind, sha, at, dedupeKey, before }: ForgeFact): ForgeHeadFact | undefined {
  const tells = kind === 'branch_pushed' || (sha !== null && factKindsWithHead.has(kind));
  return tells ? { sha, at, dedupeKey, before } : undefined;
}

/** The kinds whose commit is the head. The commit of a merge, check or review may be another one. */
const factKindsWithHead: ReadonlySet<ObservationKind> = new Set(['pr_opened', 'pr_updated', 'pr_reopened']);

export const aspectOf = (kind: ObservationKind): ForgeAspect => aspectsByKind[kind].aspect;

/**
 * Returns true if the fact is a check of a commit that was the head before, and is not the head now. Checks of
 * an earlier head may end after those of the current one.
 */
export const isCheckOfEarlierHead = ({ kind, sha }: ForgeFact, codes: readonly CodeUnderReview[]): boolean =>
  aspectOf(kind) === 'checks' &&
  sha !== null &&
  codes.length > 0 &&
  codes.every((code) => isEarlierHead(code, sha));

function isEarlierHead({ headSha, before, replaced = [] }: CodeUnderReview, sha: string): boolean {
  if (headSha === null || isSameCommit(headSha, sha)) return false;
  return [...before, ...replaced.map(({ from }) => from)].some((earlier) => isSameCommit(earlier, sha));
}

/** Adds a fact of the forge to the known state. `news` is true if the fact changed the state. */
export function applyFact(
  state: ForgeState,
  fact: ForgeFact,
): { readonly state: ForgeState; readonly news: boolean } {
  const aspect = aspectOf(fact.kind);
  const reviewer = aspect === 'review' ? fact.reviewer : undefined;
  const known = reviewer === undefined ? state[aspect] : state.reviews?.[reviewer];
  if (known !== undefined && !replacesKnownFact(fact, known)) return { state, news: false };
  const change =
    reviewer === undefined ? { [aspect]: fact } : { reviews: { ...state.reviews, [reviewer]: fact } };
  return { state: { ...state, ...change }, news: true };
}

export const isMerged = (state: ForgeState): boolean => state.pullRequest?.kind === 'pr_merged';

/** The facts about a merge of work. */
interface MergeFacts {
  readonly forge: ForgeState;
  readonly merge_verified_at: string | null;
}

/**
 * Reports whether the merge completes the work. Where the policy requires it, only a merge that the forge
 * itself reported counts.
 */
export const isMergeSufficient = (
  policy: Policy,
  { forge, merge_verified_at: verifiedAt }: MergeFacts,
): boolean => (needsVerifiedMerge(policy) ? verifiedAt !== null : isMerged(forge));

/**
 * Reports whether the pull request of submitted or released work was already merged. The merge of another
 * pull request does not count.
 */
export const wasAlreadyMerged = (
  policy: Policy,
  work: MergeFacts,
  pullRequest: { readonly number: number } | null,
): boolean => {
  const merged = work.forge.pullRequest?.number ?? null;
  const isAnother = pullRequest !== null && merged !== null && pullRequest.number !== merged;
  return isMergeSufficient(policy, work) && !isAnother;
};

/** Reports whether the pull request was closed without a merge. */
export const isClosedUnmerged = (state: ForgeState): boolean => state.pullRequest?.kind === 'pr_closed';

const isSinceLastPush = ({ branch }: ForgeState, { at }: ForgeFact): boolean => at >= (branch?.at ?? '');

/**
 * Returns the newest request for changes since the last push. A request without a reviewer ends with any
 * later review, because that review may be by the same person.
 */
function findRequestedChanges(state: ForgeState): ForgeFact | undefined {
  const reviews = Object.values(state.reviews ?? {});
  const { review } = state;
  const isAnswered = review !== undefined && reviews.some(({ at }) => at > review.at);
  return [...reviews, ...(review === undefined || isAnswered ? [] : [review])]
    .filter((fact) => fact.kind === 'changes_requested' && isSinceLastPush(state, fact))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .at(-1);
}

/** Returns the rework that reviewers at the forge request. */
export function findRequestedRework(state: ForgeState): Rework | null {
  const review = findRequestedChanges(state);
  if (review === undefined) return null;
  const { at, sha: headSha } = review;
  return { note: null, by: null, at, source: 'forge', specVersion: null, headSha };
}

/** Reports whether submitted work has to be taken up again, because something failed since the last push. */
export function needsRework(state: ForgeState): boolean {
  const { checks, merging } = state;
  const failed = (fact: ForgeFact | undefined, kind: ObservationKind): boolean =>
    fact?.kind === kind && isSinceLastPush(state, fact);
  return (
    failed(checks, 'checks_failed') ||
    failed(merging, 'merge_conflict') ||
    findRequestedChanges(state) !== undefined
  );
}
