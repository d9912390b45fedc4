/** The life of a delivery group: from each state, the ones it may move to. Operations and the docs' diagram go by it. */
import { type GroupState } from '@muster/registry';

export const groupMoves: Readonly<Record<GroupState, readonly GroupState[]>> = {
  draft: ['active', 'abandoned'],
  active: ['in_review', 'abandoned'],
  in_review: ['active', 'landed', 'abandoned'],
  landed: [],
  abandoned: [],
};

export const canMoveGroup = (from: GroupState, to: GroupState): boolean => groupMoves[from].includes(to);

/** Whether nothing leads on from it: its stories are free for other groups. */
export const isOverGroup = (state: GroupState): boolean => groupMoves[state].length === 0;
