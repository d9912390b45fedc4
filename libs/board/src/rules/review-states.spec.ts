import { describe, expect, it } from '@jest/globals';
import { verdicts } from '@muster/contract';
import { type ReviewState, toReviewState, reviewStates } from './review-states.ts';

const states = Object.keys(reviewStates) as ReviewState[];

describe('the life of a review', () => {
  it('lets a reviewer say anything at any time', () => {
    for (const state of states) {
      for (const verdict of verdicts) expect(reviewStates[state].nextStates[verdict]).toBe(verdict);
    }
  });

  it('turns what weighs stale when the story moves on, so that it weighs no more, and for good', () => {
    for (const state of states) {
      const { effectOnMove, nextStates } = reviewStates[state];
      expect(nextStates.moved_on === undefined).toBe(effectOnMove === null);
      if (nextStates.moved_on === undefined) continue;
      const moved = reviewStates[nextStates.moved_on];
      expect(moved).toMatchObject({ effectOnMove: null, isStale: true });
      expect(Object.keys(moved.nextStates).sort()).toEqual([...verdicts].sort());
    }
  });

  it('comes to each state, and to no other', () => {
    const reached = new Set(states.flatMap((state) => Object.values(reviewStates[state].nextStates)));
    expect([...reached].sort()).toEqual([...states].sort());
  });

  it('weighs an approval for and a request for changes against, and nothing else', () => {
    const weights = verdicts.map((verdict) => reviewStates[toReviewState(verdict, false)].effectOnMove);
    expect(weights).toEqual([null, 'for', 'against', null]);
    expect(verdicts.map((verdict) => reviewStates[toReviewState(verdict, true)].effectOnMove)).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(verdicts.map((verdict) => reviewStates[toReviewState(verdict, true)].isStale)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
