import { describe, expect, it } from '@jest/globals';
import { withLatestTime, currentTimeMillis, clockStateOfCarriedAnswer, clockStateOfServer } from './clock.ts';

const day = 86_400_000;
const hour = 3_600_000;
/** The time by the service's clock, in seconds. */
const serverSeconds = 1_800_000_000;

describe.each([
  ['right', 0],
  ['a year slow', -365 * day],
  ['a year fast', 365 * day],
])('a clock that is %s', (_how, off) => {
  const clock = serverSeconds * 1_000 + off;
  const seen = clockStateOfServer(serverSeconds, clock);

  it('counts on from the time of the service', () => {
    expect(currentTimeMillis(seen, { clockMillis: clock })).toBe(serverSeconds * 1_000);
    expect(currentTimeMillis(seen, { clockMillis: clock + day })).toBe(serverSeconds * 1_000 + day);
  });

  it('is found out when it is turned back past what was seen', () => {
    const later = withLatestTime(seen, currentTimeMillis(seen, { clockMillis: clock + 3 * day }) ?? 0);
    expect(currentTimeMillis(later, { clockMillis: clock + 3 * day - hour })).toBeUndefined();
    expect(currentTimeMillis(later, { clockMillis: clock })).toBeUndefined();
    expect(currentTimeMillis(later, { clockMillis: clock + 3 * day + hour })).toBe(
      serverSeconds * 1_000 + 3 * day + hour,
    );
  });

  it('may be set right by a little, and no time is won by it', () => {
    const later = withLatestTime(seen, currentTimeMillis(seen, { clockMillis: clock + day }) ?? 0);
    expect(currentTimeMillis(later, { clockMillis: clock + day - 60_000 })).toBe(serverSeconds * 1_000 + day);
  });
});

it('does not go back in what it has seen', () => {
  const seen = withLatestTime(clockStateOfServer(serverSeconds, serverSeconds * 1_000), 1);
  expect(seen.latestMillis).toBe(serverSeconds * 1_000);
});

describe('the time of an answer that people carried', () => {
  const signed = 1_800_000_000;
  it('sets a clock right that stands before it, and leaves one that stands after it', () => {
    const slow = clockStateOfCarriedAnswer(signed, (signed - 86_400) * 1_000);
    expect(slow).toEqual({ aheadMillis: 86_400_000, latestMillis: signed * 1_000 });
    expect(currentTimeMillis(slow, { clockMillis: (signed - 86_400 + 60) * 1_000 })).toBe(
      (signed + 60) * 1_000,
    );
    const days = clockStateOfCarriedAnswer(signed, (signed + 3 * 86_400) * 1_000);
    expect(currentTimeMillis(days, { clockMillis: (signed + 3 * 86_400) * 1_000 })).toBe(
      (signed + 3 * 86_400) * 1_000,
    );
    // The clock was turned back after the machine had accepted the answer.
    expect(currentTimeMillis(days, { clockMillis: (signed - 3_600) * 1_000 })).toBeUndefined();
  });
});
