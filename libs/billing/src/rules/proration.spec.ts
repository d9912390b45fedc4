import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type SeatPrice } from './prices.ts';
import { calculateCost, prorate } from './proration.ts';

const priceOf = (tiers: SeatPrice['tiers']): SeatPrice => ({ currency: 'USD', interval: 'month', tiers });
const teamPrice = priceOf([
  { upTo: 10, unitAmount: 900 },
  { upTo: 50, unitAmount: 800 },
  { upTo: null, unitAmount: 700 },
]);
const aprilPeriod = { start: '2026-04-01T00:00:00.000Z', end: '2026-05-01T00:00:00.000Z' };

describe('the cost of seats', () => {
  it.each([
    [1, 900],
    [10, 9_000],
    [11, 9_800],
    [50, 41_000],
    [51, 41_700],
    [1_000, 706_000],
  ])('is for %s seats %s', (seats, cost) => {
    expect(calculateCost(teamPrice.tiers, seats)).toBe(cost);
  });
});

describe('a change of seats', () => {
  it('on the first day costs the difference, all of it', () => {
    expect(prorate(teamPrice, { from: 10, to: 12 }, aprilPeriod, '2026-04-01T23:59:59.999Z')).toEqual({
      amount: 1_600,
      currency: 'USD',
      from: '2026-04-01T00:00:00.000Z',
      to: '2026-05-01T00:00:00.000Z',
      lines: [
        { kind: 'credit', seats: 10, days: 30, amount: -9_000 },
        { kind: 'charge', seats: 12, days: 30, amount: 10_600 },
      ],
    });
  });

  it('on the last day costs one day, each line rounded to the nearest unit', () => {
    const { amount, lines } = prorate(
      teamPrice,
      { from: 12, to: 11 },
      aprilPeriod,
      '2026-04-30T00:00:00.000Z',
    );
    // 10,600 / 30 = 353.33… and 9,800 / 30 = 326.66…
    expect(lines.map((line) => line.amount)).toEqual([-353, 327]);
    expect(amount).toBe(-26);
  });

  it('to the same number is nothing', () => {
    const proration = prorate(teamPrice, { from: 7, to: 7 }, aprilPeriod, '2026-04-15T12:00:00.000Z');
    expect(proration).toMatchObject({ amount: 0, lines: [] });
  });

  const anything = fc.record({
    price: fc
      .record({
        steps: fc.array(
          fc.record({
            more: fc.integer({ min: 1, max: 300 }),
            unitAmount: fc.integer({ min: 0, max: 1_000_000 }),
          }),
          { maxLength: 5 },
        ),
        last: fc.integer({ min: 0, max: 1_000_000 }),
      })
      .map(({ steps, last }) => {
        let upTo = 0;
        const tiers = steps.map(({ more, unitAmount }) => ({ upTo: (upTo += more), unitAmount }));
        return priceOf([...tiers, { upTo: null, unitAmount: last }]);
      }),
    days: fc.integer({ min: 28, max: 31 }),
    elapsed: fc.integer({ min: 0, max: 27 * 24 * 60 }),
    seats: fc.tuple(seatsOf(), seatsOf(), seatsOf()),
  });
  function seatsOf() {
    return fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000_000 }));
  }
  const on = ({ days, elapsed }: { days: number; elapsed: number }) => {
    const start = Date.UTC(2026, 1, 1);
    const iso = (time: number) => new Date(time).toISOString();
    return {
      period: { start: iso(start), end: iso(start + days * 86_400_000) },
      at: iso(start + elapsed * 60_000),
    };
  };

  it('has lines that add up to its amount, in whole units', () => {
    fc.assert(
      fc.property(anything, ({ price, seats: [from, to], ...when }) => {
        const { period, at } = on(when);
        const { amount, lines } = prorate(price, { from, to }, period, at);
        expect(lines.reduce((sum, line) => sum + line.amount, 0)).toBe(amount);
        for (const line of lines) expect(Number.isSafeInteger(line.amount)).toBe(true);
      }),
    );
  });

  it('never pays for more seats, nor charges for fewer', () => {
    fc.assert(
      fc.property(anything, ({ price, seats: [one, other], ...when }) => {
        const { period, at } = on(when);
        const [fewer, more] = [Math.min(one, other), Math.max(one, other)];
        expect(prorate(price, { from: fewer, to: more }, period, at).amount).toBeGreaterThanOrEqual(0);
        expect(prorate(price, { from: more, to: fewer }, period, at).amount).toBeLessThanOrEqual(0);
      }),
    );
  });

  it('costs on one day the same by whatever way it is reached, and nothing when it is taken back', () => {
    fc.assert(
      fc.property(anything, ({ price, seats: [first, second, third], ...when }) => {
        const { period, at } = on(when);
        const cost = (from: number, to: number) => prorate(price, { from, to }, period, at).amount;
        expect(cost(first, second) + cost(second, first)).toBe(0);
        expect(cost(first, second) + cost(second, third)).toBe(cost(first, third));
      }),
    );
  });

  it('never costs more than the whole period would', () => {
    fc.assert(
      fc.property(anything, ({ price, seats: [from, to], ...when }) => {
        const { period, at } = on(when);
        const whole = Math.abs(calculateCost(price.tiers, to) - calculateCost(price.tiers, from));
        // The prorated amount exceeds the price difference of a whole period by at most one unit, because
        // each line is rounded.
        expect(Math.abs(prorate(price, { from, to }, period, at).amount)).toBeLessThanOrEqual(whole + 1);
      }),
    );
  });
});
