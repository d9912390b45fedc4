/**
 * What the forge said, folded. Facts arrive late, twice and in any order; each aspect keeps its newest fact by the time
 * at which it was observed. The order of arrival decides only between facts of one kind at one time. A merge is for good: whatever is observed of the pull request after it changes nothing.
 */
import {
  type ForgeAspect,
  type ForgeFact,
  type ForgeState,
  needsVerifiedMerge,
  type ObservationKind,
  type Policy,
  type Rework,
  type SeenHead,
} from '@muster/registry';

/** Each kind is about one aspect. At the same time the one with the higher weight holds. */
const kinds: Readonly<Record<ObservationKind, { readonly aspect: ForgeAspect; readonly weight: number }>> = {
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
  // It has the time of the review that it takes back.
  review_dismissed: { aspect: 'review', weight: 2 },
};

/** Whether a fact that arrives, `a`, holds against the known `b` of the same aspect. If nothing else decides, the later arrival does. */
function holds(a: ForgeFact, b: ForgeFact): boolean {
  const isMerge = (fact: ForgeFact): boolean => fact.kind === 'pr_merged';
  if (isMerge(a) !== isMerge(b)) return isMerge(a);
  if (a.at !== b.at) return a.at > b.at;
  const [revA = -1, revB = -1] = [a.rev, b.rev];
  if (revA !== revB) return revA > revB;
  const weight = kinds[a.kind].weight - kinds[b.kind].weight;
  return weight === 0 ? a.dedupeKey !== b.dedupeKey : weight > 0;
}

/** What a fact tells of the head commit; undefined: nothing. A push that does not name it tells that it is another. */
export function seenHead({ kind, sha, at, dedupeKey, before }: ForgeFact): SeenHead | undefined {
  const tells = kind === 'branch_pushed' || (sha !== null && headKinds.has(kind));
  return tells ? { sha, at, dedupeKey, before } : undefined;
}

/** Of a merge, and of what was checked or reviewed, the commit may be another than the head. */
const headKinds: ReadonlySet<ObservationKind> = new Set(['pr_opened', 'pr_updated', 'pr_reopened']);

export const aspectOf = (kind: ObservationKind): ForgeAspect => kinds[kind].aspect;

/** The state with one fact more, and whether it changed by it. */
export function fold(
  state: ForgeState,
  fact: ForgeFact,
): { readonly state: ForgeState; readonly news: boolean } {
  const aspect = aspectOf(fact.kind);
  const reviewer = aspect === 'review' ? fact.reviewer : undefined;
  const known = reviewer === undefined ? state[aspect] : state.reviews?.[reviewer];
  if (known !== undefined && !holds(fact, known)) return { state, news: false };
  const change =
    reviewer === undefined ? { [aspect]: fact } : { reviews: { ...state.reviews, [reviewer]: fact } };
  return { state: { ...state, ...change }, news: true };
}

export const isMerged = (state: ForgeState): boolean => state.pullRequest?.kind === 'pr_merged';

/** What is known of the merge of work. */
interface SeenMerge {
  readonly forge: ForgeState;
  readonly merge_verified_at: string | null;
}

/** Whether its merge completes the work: where the policy asks for the forge's own word, one that the forge itself told of. */
export const isLanded = (policy: Policy, { forge, merge_verified_at: verifiedAt }: SeenMerge): boolean =>
  needsVerifiedMerge(policy) ? verifiedAt !== null : isMerged(forge);

/** Whether what is handed in or given back with this pull request had landed before: a merge of another lands nothing of it. */
export const hadLanded = (
  policy: Policy,
  work: SeenMerge,
  pullRequest: { readonly number: number } | null,
): boolean => {
  const merged = work.forge.pullRequest?.number ?? null;
  const isAnother = pullRequest !== null && merged !== null && pullRequest.number !== merged;
  return isLanded(policy, work) && !isAnother;
};

/** Closed without having been merged. */
export const isClosed = (state: ForgeState): boolean => state.pullRequest?.kind === 'pr_closed';

const isFresh = ({ branch }: ForgeState, { at }: ForgeFact): boolean => at >= (branch?.at ?? '');

/**
 * The newest request for changes since the branch was last pushed. One without a reviewer ends with any later review, as it
 * may be of the same person.
 */
function requestedChanges(state: ForgeState): ForgeFact | undefined {
  const reviews = Object.values(state.reviews ?? {});
  const { review } = state;
  const isAnswered = review !== undefined && reviews.some(({ at }) => at > review.at);
  return [...reviews, ...(review === undefined || isAnswered ? [] : [review])]
    .filter((fact) => fact.kind === 'changes_requested' && isFresh(state, fact))
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .at(-1);
}

/** The rework that reviewers at the forge ask for. */
export function reworkOf(state: ForgeState): Rework | null {
  const review = requestedChanges(state);
  if (review === undefined) return null;
  const { at, sha: headSha } = review;
  return { note: null, by: null, at, source: 'forge', specVersion: null, headSha };
}

/** Whether work that was handed in has to be taken up again: something failed since the branch was last pushed. */
export function needsRework(state: ForgeState): boolean {
  const { checks, merging } = state;
  const failed = (fact: ForgeFact | undefined, kind: ObservationKind): boolean =>
    fact?.kind === kind && isFresh(state, fact);
  return (
    failed(checks, 'checks_failed') ||
    failed(merging, 'merge_conflict') ||
    requestedChanges(state) !== undefined
  );
}
