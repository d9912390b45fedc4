import { expect, it } from '@jest/globals';
import { mostTries, nextTryInSeconds } from './webhook-tries.ts';

it('ten tries within some 75 hours, each later than the one before', () => {
  const pauses = Array.from({ length: mostTries - 1 }, (_, nth) => nextTryInSeconds(nth + 1, 0.5));
  expect(pauses).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(nextTryInSeconds(mostTries, 0.5)).toBeNull();
  expect(pauses.reduce((sum: number, pause) => sum + (pause ?? 0), 0) / 3_600).toBeCloseTo(75.6, 1);
});

it('are spread by a tenth, so that what failed together does not come back together', () => {
  expect([nextTryInSeconds(2, 0), nextTryInSeconds(2, 1)]).toEqual([270, 330]);
});

it('wait as long as the receiver asks, but only while tries are left', () => {
  expect([nextTryInSeconds(1, 0.5, 90), nextTryInSeconds(2, 0.5, 90)]).toEqual([90, 300]);
  expect(nextTryInSeconds(mostTries, 0.5, 90)).toBeNull();
});
