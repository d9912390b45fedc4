import { expect, it } from '@jest/globals';
import { maxWebhookAttempts, secondsUntilNextAttempt } from './webhook-tries.ts';

it('ten tries within some 75 hours, each later than the one before', () => {
  const pauses = Array.from({ length: maxWebhookAttempts - 1 }, (_, nth) =>
    secondsUntilNextAttempt(nth + 1, 0.5),
  );
  expect(pauses).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(secondsUntilNextAttempt(maxWebhookAttempts, 0.5)).toBeNull();
  expect(pauses.reduce((sum: number, pause) => sum + (pause ?? 0), 0) / 3_600).toBeCloseTo(75.6, 1);
});

it('are spread by a tenth, so that what failed together does not come back together', () => {
  expect([secondsUntilNextAttempt(2, 0), secondsUntilNextAttempt(2, 1)]).toEqual([270, 330]);
});

it('wait as long as the receiver asks, but only while tries are left', () => {
  expect([secondsUntilNextAttempt(1, 0.5, 90), secondsUntilNextAttempt(2, 0.5, 90)]).toEqual([90, 300]);
  expect(secondsUntilNextAttempt(maxWebhookAttempts, 0.5, 90)).toBeNull();
});
