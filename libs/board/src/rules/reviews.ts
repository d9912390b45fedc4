/** Decides what a verdict is about, when it is stale, and which verdicts count. */
import {
  codeSaid,
  type CodeUnderReview,
  isOtherCode,
  type KnownCode,
  type Policy,
  type Verdict,
} from '@muster/registry';
import { reviewState, reviewStates } from './review-states.ts';
import { type Gates } from './workflow.ts';

/** The current content of a story that a reviewer can review. */
export interface Reviewable {
  readonly specVersion: number;
  readonly code: CodeUnderReview;
}

/** The content that a verdict is about; nothing while the verdict is pending. */
export interface Reviewed extends KnownCode {
  readonly specVersion: number | null;
  /** The number of the code under review; null if the verdict is about other code. */
  readonly codeSeq: number | null;
}

export interface Review extends Reviewed {
  readonly verdict: Verdict;
}

/** A verdict, and its giver's membership status. */
export type GivenVerdict = Review & Pick<Giver, 'isActive'>;

/** Reports whether a verdict no longer counts, because the spec or the code changed or its giver left. */
export const isStale = (review: GivenVerdict, now: Reviewable): boolean =>
  reviewStates[stateOf(review, now)].stale;

const stateOf = ({ verdict, specVersion, codeSeq, isActive }: GivenVerdict, now: Reviewable) =>
  reviewState(verdict, specVersion !== now.specVersion || codeSeq !== now.code.seq || !isActive);

/** The parts of the reviewed content that a reviewer names. */
export interface ReviewedVersion {
  readonly specVersion?: number | undefined;
  readonly headSha?: string | undefined;
  readonly diffHash?: string | undefined;
}

/**
 * Returns the reviewed content and the resulting code under review. Unnamed parts default to the current
 * ones, unless a named part is known to belong to other code. If a reviewer names a part that no call has
 * reported yet, it becomes part of the code under review.
 */
export function reviewed(
  named: ReviewedVersion,
  now: Reviewable,
  at: string,
): { readonly reviewed: Reviewed; readonly code: CodeUnderReview } {
  const specVersion = named.specVersion ?? now.specVersion;
  const said = { headSha: named.headSha ?? null, diffHash: named.diffHash ?? null };
  if (isOtherCode(said, now.code))
    return { reviewed: { specVersion, codeSeq: null, ...said }, code: now.code };
  const code = codeSaid(
    now.code,
    {
      headSha: now.code.headSha ?? named.headSha,
      diffHash: now.code.diffHash ?? named.diffHash,
    },
    at,
  );
  return {
    reviewed: {
      specVersion,
      codeSeq: code.seq,
      headSha: said.headSha ?? code.headSha,
      diffHash: said.diffHash ?? code.diffHash,
    },
    code,
  };
}

/** A member or an agent; exactly one of the two. */
export interface ReviewerId {
  readonly memberId: string | null;
  readonly agentId: string | null;
}

/** The giver of a verdict. */
export interface Giver extends ReviewerId {
  /** The member who gave the verdict, or the owner of the agent that gave it. */
  readonly actingMemberId: string;
  /** True if the acting member is still active. */
  readonly isActive: boolean;
}

/**
 * The members who worked on a story, in person or through an agent. Agents count as their member and the
 * reverse. No member therefore approves work of its own or of its agents.
 */
export type Authors = ReadonlySet<string>;

type ReviewPolicy = Pick<Policy, 'agentsMayReview' | 'authorMayApprove'>;

/**
 * Lists the rules of the policy that forbid a verdict. The error contains it as `details.unmet`. Every
 * reviewer may withdraw a verdict.
 */
export function unmetForVerdict(
  verdict: Verdict,
  who: Pick<Giver, 'agentId' | 'actingMemberId'>,
  authors: Authors,
  policy: ReviewPolicy,
): { readonly gate: 'agentsMayReview' | 'authorMayApprove' }[] {
  if (verdict === 'pending') return [];
  const unmet: { gate: 'agentsMayReview' | 'authorMayApprove' }[] = [];
  if (who.agentId !== null && !policy.agentsMayReview) unmet.push({ gate: 'agentsMayReview' });
  if (verdict === 'approved' && !policy.authorMayApprove && authors.has(who.actingMemberId)) {
    unmet.push({ gate: 'authorMayApprove' });
  }
  return unmet;
}

/**
 * Counts the fresh verdicts for a move to done, by the current members, policy and authors. A verdict that
 * its giver could not give today does not count.
 */
export function countFresh(
  reviews: readonly (Review & Giver)[],
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
