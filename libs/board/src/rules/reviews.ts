/** What a verdict is about, when it is stale, and which verdicts count. */
import { type Policy, type Verdict } from '@muster/registry';
import { reviewState, reviewStates } from './review-states.ts';
import { type Gates } from './workflow.ts';

/** The code at some moment, as far as it is known. */
export interface Code {
  readonly headSha: string | null;
  readonly diffHash: string | null;
}

/** What there is to review, or what was reviewed. */
export interface Reviewable extends Code {
  readonly specVersion: number;
}

/** A verdict and what it is about; while it is pending, about nothing. */
export interface Review extends Code {
  readonly verdict: Verdict;
  readonly specVersion: number | null;
}

/** One may be written shorter than the other. */
const isSameCommit = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

/** Whether the code is known to be another: by the diff where both are known, else by the head commit where both are. */
function isOtherCode(one: Code, other: Code): boolean {
  if (one.diffHash !== null && other.diffHash !== null) return one.diffHash !== other.diffHash;
  return one.headSha !== null && other.headSha !== null && !isSameCommit(one.headSha, other.headSha);
}

/** Whether the story has moved on from what the verdict is about, so that the verdict says nothing any more. */
export const isStale = (review: Review, now: Reviewable): boolean => reviewStates[stateOf(review, now)].stale;

const stateOf = (review: Review, now: Reviewable) =>
  reviewState(review.verdict, review.specVersion !== now.specVersion || isOtherCode(review, now));

/**
 * What was reviewed, from what the reviewer names of it: what is not named is as it is now, unless the named part is
 * known to be of other code, of which the rest is not known.
 */
export function reviewed(
  named: {
    readonly specVersion?: number | undefined;
    readonly headSha?: string | undefined;
    readonly diffHash?: string | undefined;
  },
  now: Reviewable,
): Reviewable {
  const code = { headSha: named.headSha ?? null, diffHash: named.diffHash ?? null };
  const rest = isOtherCode(code, now) ? { headSha: null, diffHash: null } : now;
  return {
    specVersion: named.specVersion ?? now.specVersion,
    headSha: code.headSha ?? rest.headSha,
    diffHash: code.diffHash ?? rest.diffHash,
  };
}

/** A member or an agent; one of the two. */
export interface Who {
  readonly memberId: string | null;
  readonly agentId: string | null;
}

/** Those whose work a story is. */
export interface Authors {
  readonly memberIds: readonly string[];
  readonly agentIds: readonly string[];
}

export const isAuthor = ({ memberId, agentId }: Who, { memberIds, agentIds }: Authors): boolean =>
  agentId === null ? memberId !== null && memberIds.includes(memberId) : agentIds.includes(agentId);

type ReviewPolicy = Pick<Policy, 'agentsMayReview' | 'authorMayApprove'>;

/** What the policy has against a verdict; goes out as `details.unmet`. Anybody may take a verdict back. */
export function unmetForVerdict(
  verdict: Verdict,
  who: Who,
  authors: Authors,
  policy: ReviewPolicy,
): { readonly gate: 'agentsMayReview' | 'authorMayApprove' }[] {
  if (verdict === 'pending') return [];
  const unmet: { gate: 'agentsMayReview' | 'authorMayApprove' }[] = [];
  if (who.agentId !== null && !policy.agentsMayReview) unmet.push({ gate: 'agentsMayReview' });
  if (verdict === 'approved' && !policy.authorMayApprove && isAuthor(who, authors)) {
    unmet.push({ gate: 'authorMayApprove' });
  }
  return unmet;
}

/**
 * The fresh verdicts that count on the way into done. By the policy and the authors of today: what could not be said
 * today does not count, whenever it was said.
 */
export function countFresh(
  reviews: readonly (Review & Who)[],
  now: Reviewable,
  authors: Authors,
  policy: ReviewPolicy,
): Pick<Gates, 'freshApprovals' | 'freshChangesRequested'> {
  const weights = reviews
    .filter((review) => unmetForVerdict(review.verdict, review, authors, policy).length === 0)
    .map((review) => reviewStates[stateOf(review, now)].weighs);
  return {
    freshApprovals: weights.filter((weight) => weight === 'for').length,
    freshChangesRequested: weights.filter((weight) => weight === 'against').length,
  };
}
