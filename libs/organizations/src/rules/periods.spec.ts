import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findPeriodContaining } from './periods.ts';

const midnightOf = (text: string): string => `${text}T00:00:00.000Z`;
const first = (start: string, end: string) => ({ start: midnightOf(start), end: midnightOf(end) });

describe('billing periods', () => {
  it('stay what they are until they end', () => {
    const period = first('2026-01-31', '2026-02-28');
    expect(findPeriodContaining(period, midnightOf('2026-01-31'), '2026-02-27T23:59:59.999Z')).toEqual(
      period,
    );
    expect(findPeriodContaining(period, midnightOf('2026-01-31'), midnightOf('2026-01-01'))).toEqual(period);
  });

  it.each([
    ['2026-02-28', '2026-02-28', '2026-03-31'],
    ['2026-03-31', '2026-03-31', '2026-04-30'],
    ['2026-12-31', '2026-12-31', '2027-01-31'],
    ['2028-02-29', '2028-02-29', '2028-03-31'],
  ])('of a subscription that began on a 31st keep to it: %s is in %s to %s', (at, start, end) => {
    const period = first('2026-01-31', '2026-02-28');
    expect(findPeriodContaining(period, '2026-01-31T17:05:00.000Z', midnightOf(at))).toEqual(
      first(start, end),
    );
  });

  it('follow one another without a gap, about a month each, and hold the day asked for', () => {
    const time = fc.date({
      min: new Date('2020-01-01T00:00:00Z'),
      max: new Date('2060-01-01T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(time, time, (one, other) => {
        const [began = one, at = other] = [one, other].sort((a, b) => a.getTime() - b.getTime());
        const start = midnightOf(began.toISOString().slice(0, 10));
        const origin = findPeriodContaining({ start, end: start }, began.toISOString(), start);
        const now = findPeriodContaining(origin, began.toISOString(), at.toISOString());
        expect(now.start <= at.toISOString() && at.toISOString() < now.end).toBe(true);
        const next = findPeriodContaining(now, began.toISOString(), now.end);
        expect(next.start).toBe(now.end);
        const days = (Date.parse(now.end) - Date.parse(now.start)) / 86_400_000;
        expect(days).toBeGreaterThanOrEqual(28);
        expect(days).toBeLessThanOrEqual(31);
      }),
    );
  });
});
