/** What a verdict is about, when it is stale, and which verdicts count. */
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

/** What there is to review. */
export interface Reviewable {
  readonly specVersion: number;
  readonly code: CodeUnderReview;
}

/** What a verdict is about; while it is pending, nothing. */
export interface Reviewed extends KnownCode {
  readonly specVersion: number | null;
  /** The number of the code that was under review; null: it was about other code than that. */
  readonly codeSeq: number | null;
}

export interface Review extends Reviewed {
  readonly verdict: Verdict;
}

/** A verdict, and whether who gave it is a member still. */
export type Given = Review & Pick<Giver, 'isActive'>;

/**
 * Whether the story has moved on from what the verdict is about, or who gave it is gone, so that the verdict says nothing any
 * more.
 */
export const isStale = (review: Given, now: Reviewable): boolean => reviewStates[stateOf(review, now)].stale;

const stateOf = ({ verdict, specVersion, codeSeq, isActive }: Given, now: Reviewable) =>
  reviewState(verdict, specVersion !== now.specVersion || codeSeq !== now.code.seq || !isActive);

/** What a reviewer names of what was reviewed. */
export interface Named {
  readonly specVersion?: number | undefined;
  readonly headSha?: string | undefined;
  readonly diffHash?: string | undefined;
}

/**
 * What was reviewed, and the code that is under review from then on. What is not named is as it is now, unless the named
 * part is known to be of other code, of which the rest is not known. A reviewer who names what no call has told of yet
 * tells of it.
 */
export function reviewed(
  named: Named,
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

/** A member or an agent; one of the two. */
export interface Who {
  readonly memberId: string | null;
  readonly agentId: string | null;
}

/** Who gave a verdict, or is about to. */
export interface Giver extends Who {
  /** The member, or the one whose agent it is. */
  readonly actingMemberId: string;
  /** Whether that member is one still. */
  readonly isActive: boolean;
}

/**
 * The members whose work a story is, by their own hands or by an agent of theirs. Agents of one member count as one with
 * it, both ways: no member approves their own work through an agent, nor what their agent did.
 */
export type Authors = ReadonlySet<string>;

type ReviewPolicy = Pick<Policy, 'agentsMayReview' | 'authorMayApprove'>;

/** What the policy has against a verdict; goes out as `details.unmet`. Every reviewer may take a verdict back. */
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
 * The fresh verdicts that count on the way into done. By the members, the policy and the authors of today: what could not
 * be said today does not count, whenever it was said.
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
