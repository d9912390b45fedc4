/** The life of a review, as one table: code runs on it, and its diagram is drawn from it. */
import { type Verdict } from '@muster/registry';

/** A verdict, and what becomes of it when the story moves on from what was reviewed. */
export type ReviewState = Verdict | 'stale_approval' | 'stale_request';

/** The reviewer gives a verdict; the story moves on from what was reviewed. What is stale stays so, whatever comes back. */
type ReviewEvent = Verdict | 'moved_on';

interface StateOfReview {
  /** What it says about the way into done; null: nothing. */
  readonly weighs: 'for' | 'against' | null;
  readonly stale: boolean;
  readonly on: Readonly<Partial<Record<ReviewEvent, ReviewState>>>;
}

/** A reviewer may say anything at any time; pending takes it back. */
const said = {
  pending: 'pending',
  approved: 'approved',
  changes_requested: 'changes_requested',
  commented: 'commented',
} as const satisfies Record<Verdict, ReviewState>;

/** From each state, where it goes. Who said nothing, or only commented, has said nothing that could turn stale. */
export const reviewStates: Readonly<Record<ReviewState, StateOfReview>> = {
  pending: { weighs: null, stale: false, on: said },
  commented: { weighs: null, stale: false, on: said },
  approved: { weighs: 'for', stale: false, on: { ...said, moved_on: 'stale_approval' } },
  changes_requested: { weighs: 'against', stale: false, on: { ...said, moved_on: 'stale_request' } },
  stale_approval: { weighs: null, stale: true, on: said },
  stale_request: { weighs: null, stale: true, on: said },
};

/** The state of a verdict that was given before the story moved on, or was not. */
export const reviewState = (verdict: Verdict, hasMovedOn: boolean): ReviewState =>
  (hasMovedOn ? reviewStates[verdict].on.moved_on : undefined) ?? verdict;
