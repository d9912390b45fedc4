import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toIso } from './pool.ts';

/** As Postgres writes a timestamptz(3) for a session in UTC: no zeros at the end of the fraction. */
const asPostgres = (moment: Date): string =>
  moment
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, '+00')
    .replace(/:(\d)\+00$/, ':$10+00');

describe('toIso', () => {
  it.each([
    ['2026-11-21 09:30:00+00', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21 09:30:10+00', '2026-11-21T09:30:10.000Z'],
    ['2026-11-21 09:30:00.1+00', '2026-11-21T09:30:00.100Z'],
    ['2026-11-21 09:30:00.012+00', '2026-11-21T09:30:00.012Z'],
    // clock_timestamp() and now() have microseconds.
    ['2026-11-21 09:30:00.123456+00', '2026-11-21T09:30:00.123Z'],
  ])('reads %s as %s', (text, iso) => {
    expect(toIso(text)).toBe(iso);
  });

  it('reads every moment as it is', () => {
    const moments = fc.date({ min: new Date(0), max: new Date(Date.UTC(2200, 0, 1)), noInvalidDate: true });
    fc.assert(
      fc.property(moments, (moment) => {
        expect(toIso(asPostgres(moment))).toBe(moment.toISOString());
      }),
    );
  });
});
