/**
 * The states that a delivery group can move to from each state. The operations and the diagram in the docs
 * use this table.
 */
import { type GroupState } from '@muster/contract';

export const groupTransitions: Readonly<Record<GroupState, readonly GroupState[]>> = {
  draft: ['active', 'abandoned'],
  active: ['in_review', 'abandoned'],
  in_review: ['active', 'landed', 'abandoned'],
  landed: [],
  abandoned: [],
};

export const canMoveGroup = (from: GroupState, to: GroupState): boolean =>
  groupTransitions[from].includes(to);

/**
 * Reports whether a group's state is final. The stories of a group in a final state may join other groups.
 */
export const isFinalGroupState = (state: GroupState): boolean => groupTransitions[state].length === 0;
