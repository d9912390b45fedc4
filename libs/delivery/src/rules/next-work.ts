/** What comes of a story for a caller who asks for the next one, by what is known of the work on it. */
import { isBeforeWork, type PassedOverReason, type StoryStatus } from '@muster/registry';
import { type AcquireDecision } from './acquire.ts';

export interface NextFacts {
  readonly status: StoryStatus;
  /** What the board has against it. */
  readonly reasons: readonly PassedOverReason[];
  readonly isGrouped: boolean;
  /** Work on it was handed in, and nothing has to be done about it but by the forge. */
  readonly isSubmitted: boolean;
  /** It needs rework, which is kept for another for a while. */
  readonly isReworkOfAnother: boolean;
  /** Whether a story that people moved back, to ready or the backlog, is to be begun anew. */
  readonly boardDecides: boolean;
  /** What an acquire of it would decide. */
  readonly decision: AcquireDecision;
}

export type NextVerdict =
  | { readonly kind: 'take'; readonly order: number }
  | { readonly kind: 'pass'; readonly reasons: readonly PassedOverReason[] }
  /** There is nothing to do on it, so it is not passed over either. */
  | { readonly kind: 'ignore' };

/** Why what an acquire would not grant is passed over: the caller's own is what it has already, and not the next. */
export const reasonsOf = (decision: Exclude<AcquireDecision, { kind: 'grant' }>): PassedOverReason[] =>
  decision.kind === 'extend' || decision.reason === 'take_over_forbidden'
    ? ['lease_held']
    : [decision.reason];

/** Of those that can be taken a lower order comes first: what is offered to the caller, what was begun, all others. */
export function judgeNext(facts: NextFacts): NextVerdict {
  const { status, reasons, isGrouped, isSubmitted, boardDecides, decision } = facts;
  if (isSubmitted && (!isBeforeWork(status) || !boardDecides)) return { kind: 'ignore' };
  const against: PassedOverReason[] = [...reasons];
  if (isGrouped) against.push('in_active_group');
  if (facts.isReworkOfAnother) against.push('reserved');
  if (decision.kind !== 'grant') return { kind: 'pass', reasons: [...against, ...reasonsOf(decision)] };
  if (against.length > 0) return { kind: 'pass', reasons: against };
  return { kind: 'take', order: decision.offered ? 0 : isBeforeWork(status) ? 2 : 1 };
}
