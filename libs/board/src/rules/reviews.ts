/** Decides what a verdict is about, when it is stale, and which verdicts count. */
import {
  applyReportedCode,
  type CodeUnderReview,
  isDifferentCode,
  type CodeHashes,
  type Policy,
  type Verdict,
} from '@muster/contract';
import { toReviewState, reviewStates } from './review-states.ts';
import { type GateFacts } from './workflow.ts';

/** The current content of a story that a reviewer can review. */
export interface ReviewableContent {
  readonly specVersion: number;
  readonly code: CodeUnderReview;
}

/** The content that a verdict is about; nothing while the verdict is pending. */
export interface ReviewedContent extends CodeHashes {
  readonly specVersion: number | null;
  /** The number of the code under review; null if the verdict is about other code. */
  readonly codeSeq: number | null;
}

export interface Review extends ReviewedContent {
  readonly verdict: Verdict;
}

/** A verdict, and its giver's membership status. */
export type ReviewWithGiverStatus = Review & Pick<VerdictGiver, 'isActive'>;

/** Reports whether a verdict no longer counts, because the spec or the code changed or its giver left. */
export const isReviewStale = (review: ReviewWithGiverStatus, currentContent: ReviewableContent): boolean =>
  reviewStates[getReviewState(review, currentContent)].isStale;

const getReviewState = (
  { verdict, specVersion, codeSeq, isActive }: ReviewWithGiverStatus,
  currentContent: ReviewableContent,
) =>
  toReviewState(
    verdict,
    specVersion !== currentContent.specVersion || codeSeq !== currentContent.code.seq || !isActive,
  );

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
export function resolveReviewedContent(
  namedParts: ReviewedVersion,
  currentContent: ReviewableContent,
  reviewedAt: string,
): { readonly reviewed: ReviewedContent; readonly code: CodeUnderReview } {
  const specVersion = namedParts.specVersion ?? currentContent.specVersion;
  const said = { headSha: namedParts.headSha ?? null, diffHash: namedParts.diffHash ?? null };
  if (isDifferentCode(said, currentContent.code))
    return { reviewed: { specVersion, codeSeq: null, ...said }, code: currentContent.code };
  const code = applyReportedCode(
    currentContent.code,
    {
      headSha: currentContent.code.headSha ?? namedParts.headSha,
      diffHash: currentContent.code.diffHash ?? namedParts.diffHash,
    },
    reviewedAt,
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
export interface ReviewerIdentity {
  readonly memberId: string | null;
  readonly agentId: string | null;
}

/** The giver of a verdict. */
export interface VerdictGiver extends ReviewerIdentity {
  /** The member who gave the verdict, or the owner of the agent that gave it. */
  readonly actingMemberId: string;
  /** True if the acting member is still active. */
  readonly isActive: boolean;
}

/**
 * The members who worked on a story, in person or through an agent. Agents count as their member and the
 * reverse. No member therefore approves work of its own or of its agents.
 */
export type AuthorIds = ReadonlySet<string>;

type ReviewPolicy = Pick<Policy, 'agentsMayReview' | 'authorMayApprove'>;

/**
 * Lists the rules of the policy that forbid a verdict. The error contains it as `details.unmet`. Every
 * reviewer may withdraw a verdict.
 */
export function findRulesViolatedByVerdict(
  verdict: Verdict,
  giver: Pick<VerdictGiver, 'agentId' | 'actingMemberId'>,
  authors: AuthorIds,
  policy: ReviewPolicy,
): { readonly gate: 'agentsMayReview' | 'authorMayApprove' }[] {
  if (verdict === 'pending') return [];
  const unmet: { gate: 'agentsMayReview' | 'authorMayApprove' }[] = [];
  if (giver.agentId !== null && !policy.agentsMayReview) unmet.push({ gate: 'agentsMayReview' });
  if (verdict === 'approved' && !policy.authorMayApprove && authors.has(giver.actingMemberId))
    unmet.push({ gate: 'authorMayApprove' });
  return unmet;
}

/**
 * Counts the fresh verdicts for a move to done, by the current members, policy and authors. A verdict that
 * its giver could not give today does not count.
 */
export function countFreshVerdicts(
  reviews: readonly (Review & VerdictGiver)[],
  currentContent: ReviewableContent,
  authors: AuthorIds,
  policy: ReviewPolicy,
): Pick<GateFacts, 'freshApprovals' | 'freshChangesRequested'> {
  const weights = reviews
    .filter((review) => findRulesViolatedByVerdict(review.verdict, review, authors, policy).length === 0)
    .map((review) => reviewStates[getReviewState(review, currentContent)].effectOnMove);
  return {
    freshApprovals: weights.filter((weight) => weight === 'for').length,
    freshChangesRequested: weights.filter((weight) => weight === 'against').length,
  };
}
