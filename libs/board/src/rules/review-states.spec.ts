import { describe, expect, it } from '@jest/globals';
import { verdicts } from '@muster/registry';
import { type ReviewState, reviewState, reviewStates } from './review-states.ts';

const states = Object.keys(reviewStates) as ReviewState[];

describe('the life of a review', () => {
  it('lets a reviewer say anything at any time', () => {
    for (const state of states) {
      for (const verdict of verdicts) expect(reviewStates[state].on[verdict]).toBe(verdict);
    }
  });

  it('turns what weighs stale when the story moves on, so that it weighs no more, and for good', () => {
    for (const state of states) {
      const { weighs, on } = reviewStates[state];
      expect(on.moved_on === undefined).toBe(weighs === null);
      if (on.moved_on === undefined) continue;
      const moved = reviewStates[on.moved_on];
      expect(moved).toMatchObject({ weighs: null, stale: true });
      expect(Object.keys(moved.on).sort()).toEqual([...verdicts].sort());
    }
  });

  it('comes to each state, and to no other', () => {
    const reached = new Set(states.flatMap((state) => Object.values(reviewStates[state].on)));
    expect([...reached].sort()).toEqual([...states].sort());
  });

  it('weighs an approval for and a request for changes against, and nothing else', () => {
    const weights = verdicts.map((verdict) => reviewStates[reviewState(verdict, false)].weighs);
    expect(weights).toEqual([null, 'for', 'against', null]);
    expect(verdicts.map((verdict) => reviewStates[reviewState(verdict, true)].weighs)).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(verdicts.map((verdict) => reviewStates[reviewState(verdict, true)].stale)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
