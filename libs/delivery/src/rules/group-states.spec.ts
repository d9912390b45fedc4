import { describe, expect, it } from '@jest/globals';
import { groupStates } from '@muster/contract';
import { canMoveGroup, groupTransitions, isFinalGroupState } from './group-states.ts';

describe('the states of a delivery group', () => {
  it('end in landed and abandoned, and nowhere else', () => {
    expect(groupStates.filter(isFinalGroupState)).toEqual(['landed', 'abandoned']);
  });

  it('can all be abandoned while they are open', () => {
    for (const state of groupStates) expect(canMoveGroup(state, 'abandoned')).toBe(!isFinalGroupState(state));
  });

  it('land from review alone', () => {
    expect(groupStates.filter((state) => canMoveGroup(state, 'landed'))).toEqual(['in_review']);
  });

  it('never come back to draft, and no move stays where it is', () => {
    for (const state of groupStates) {
      expect(canMoveGroup(state, 'draft')).toBe(false);
      expect(groupTransitions[state]).not.toContain(state);
    }
  });
});
