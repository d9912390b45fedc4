/** The state machine of a review. The code and the diagram in the docs use this one table. */
import { type Verdict } from '@muster/contract';

/** A verdict, or its stale form after the spec or the code changed. */
export type ReviewState = Verdict | 'stale_approval' | 'stale_request';

/**
 * A verdict of the reviewer, or a change of what was reviewed. A stale verdict stays stale, even if the
 * change is undone.
 */
type ReviewEvent = Verdict | 'moved_on';

interface ReviewStateDefinition {
  /** The effect of the verdict on a move to done; null for none. */
  readonly effectOnMove: 'for' | 'against' | null;
  readonly isStale: boolean;
  readonly nextStates: Readonly<Partial<Record<ReviewEvent, ReviewState>>>;
}

/**
 * The transitions for a verdict. A reviewer may give any verdict at any time; `pending` withdraws the last
 * one.
 */
const verdictTransitions = {
  pending: 'pending',
  approved: 'approved',
  changes_requested: 'changes_requested',
  commented: 'commented',
} as const satisfies Record<Verdict, ReviewState>;

/** The transitions of each state. A pending review and a mere comment cannot become stale. */
export const reviewStates: Readonly<Record<ReviewState, ReviewStateDefinition>> = {
  pending: { effectOnMove: null, isStale: false, nextStates: verdictTransitions },
  commented: { effectOnMove: null, isStale: false, nextStates: verdictTransitions },
  approved: {
    effectOnMove: 'for',
    isStale: false,
    nextStates: { ...verdictTransitions, moved_on: 'stale_approval' },
  },
  changes_requested: {
    effectOnMove: 'against',
    isStale: false,
    nextStates: { ...verdictTransitions, moved_on: 'stale_request' },
  },
  stale_approval: { effectOnMove: null, isStale: true, nextStates: verdictTransitions },
  stale_request: { effectOnMove: null, isStale: true, nextStates: verdictTransitions },
};

/**
 * Returns the state of a verdict. `hasContentChanged` is true if the reviewed content has ever changed since
 * the verdict, even if the change was undone.
 */
export const toReviewState = (verdict: Verdict, hasContentChanged: boolean): ReviewState =>
  (hasContentChanged ? reviewStates[verdict].nextStates.moved_on : undefined) ?? verdict;
