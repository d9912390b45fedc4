import { expect, it } from '@jest/globals';
import { RequestSlots } from './places.ts';

/** Creates request slots with a clock that advances only through `pass`. */
function openSlots(most: number): { slots: RequestSlots; pass: (millis: number) => void } {
  let now = 1_000_000;
  return {
    slots: new RequestSlots(most, () => now),
    pass: (millis) => {
      now += millis;
    },
  };
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

it('hundreds who are woken at once come back a few at a time, and keep no caller out', async () => {
  const { slots: places } = openSlots(12);
  let back = 0;
  const all = Array.from({ length: 900 }, () => places.waitForSlot().then(() => (back += 1)));
  await nextTick();
  // Returning requests take at most a sixth of the twelve slots.
  expect([back, places.taken]).toEqual([2, 2]);
  expect(Array.from({ length: 13 }, () => places.take(false))).toEqual([
    ...Array.from({ length: 12 }, () => true),
    false,
  ]);
  for (let left = 0; left < 12; left += 1) places.release(false);
  for (let left = 0; left < 900; left += 1) {
    expect(places.taken).toBeLessThanOrEqual(2);
    places.release(true);
    await Promise.resolve();
  }
  await Promise.all(all);
  expect([back, places.taken]).toEqual([900, 0]);
});

it('who comes back goes on, one at a time, however many callers there are', async () => {
  const { slots: places } = openSlots(2);
  places.take(false);
  places.take(false);
  let back = 0;
  for (let count = 0; count < 3; count += 1) void places.waitForSlot().then(() => (back += 1));
  await nextTick();
  expect(back).toBe(1);
  places.release(true);
  await nextTick();
  expect(back).toBe(2);
});

it('is saturated when callers have been turned away for more than five seconds while others are answered', () => {
  const { slots: places, pass } = openSlots(1);
  places.take(false);
  for (let second = 0; second <= 6; second += 1) {
    expect([second, places.saturation()]).toEqual([second, second > 6 ? 'lasting' : 'none']);
    expect(places.take(false)).toBe(false);
    places.release(false);
    places.take(false);
    pass(1_000);
  }
  expect(places.saturation()).toBe('lasting');
  pass(2_000);
  places.release(false);
  expect(places.saturation()).toBe('none');
});

it('is stuck when all places are taken and none has come free for more than five seconds', () => {
  const { slots: places, pass } = openSlots(2);
  places.take(false);
  pass(60_000);
  places.take(false);
  expect(places.saturation()).toBe('stuck');
  places.release(false);
  places.take(false);
  pass(5_000);
  expect(places.saturation()).toBe('none');
  pass(1);
  expect(places.saturation()).toBe('stuck');
});
