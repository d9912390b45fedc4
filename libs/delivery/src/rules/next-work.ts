/** Judges a story as the next work for a caller, from the state of the work on it. */
import { type EventKind, isBeforeWork, type PassedOverReason, type StoryStatus } from '@muster/contract';
import { type AcquireDecision } from './acquire.ts';

/**
 * The events of a project, and of the policy, after which a story may be available that was not before.
 * Callers that wait for the next story search again after each of them.
 */
export const eventsThatFreeStories: readonly EventKind[] = [
  ...(['story.created', 'story.updated', 'story.statusChanged', 'story.unblocked', 'story.deleted'] as const),
  ...(['story.restored'] as const),
  ...(['spec.updated', 'spec.restored', 'assignment.changed', 'assignment.cleared'] as const),
  ...(['column.created', 'column.updated', 'column.archived'] as const),
  ...(['import.stored', 'import.finished', 'project.converted', 'project.archived'] as const),
  ...(['execution.offered', 'execution.released', 'execution.completed'] as const),
  ...(['execution.stopLifted', 'execution.reworkRequested', 'execution.observed'] as const),
  ...(['group.stateChanged', 'group.storiesReplaced', 'lock.released', 'policy.updated'] as const),
  ...(['budget.changed', 'budget.deleted'] as const),
];

export interface NextStoryFacts {
  readonly status: StoryStatus;
  /** The board's reasons against beginning the story. */
  readonly reasons: readonly PassedOverReason[];
  readonly isGrouped: boolean;
  /** True if the story's work is submitted and only the forge has to act. */
  readonly isSubmitted: boolean;
  /** True if the story's rework is reserved for another holder for a limited time. */
  readonly isReworkReservedForAnother: boolean;
  /** True if a story that people moved back to ready or the backlog counts as not begun. */
  readonly isMovedBackNotBegun: boolean;
  /** The decision that an acquire of the story would get. */
  readonly decision: AcquireDecision;
}

export type NextStoryVerdict =
  | { readonly kind: 'take'; readonly order: number }
  | { readonly kind: 'pass'; readonly reasons: readonly PassedOverReason[] }
  /** The story needs no work, so it is not reported as skipped. */
  | { readonly kind: 'ignore' };

/**
 * Returns the reasons why an acquire would not be granted. The reason is `lease_held` even if the caller
 * holds the lease, because the next work has to be other work.
 */
export const refusalReasons = (decision: Exclude<AcquireDecision, { kind: 'grant' }>): PassedOverReason[] =>
  decision.kind === 'extend' || decision.reason === 'take_over_forbidden'
    ? ['lease_held']
    : [decision.reason];

/**
 * Judges a story. Among stories to take, a lower order comes first: offered to the caller, then begun, then
 * all others.
 */
export function judgeNextStory(facts: NextStoryFacts): NextStoryVerdict {
  const { status, reasons, isGrouped, isSubmitted, isMovedBackNotBegun, decision } = facts;
  if (isSubmitted && (!isBeforeWork(status) || !isMovedBackNotBegun)) return { kind: 'ignore' };
  const against: PassedOverReason[] = [...reasons];
  if (isGrouped) against.push('in_active_group');
  if (facts.isReworkReservedForAnother) against.push('reserved');
  if (decision.kind !== 'grant') return { kind: 'pass', reasons: [...against, ...refusalReasons(decision)] };
  if (against.length > 0) return { kind: 'pass', reasons: against };
  return { kind: 'take', order: decision.offered ? 0 : isBeforeWork(status) ? 2 : 1 };
}
