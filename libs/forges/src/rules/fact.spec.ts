import { describe, expect, it } from '@jest/globals';
import { ForgeTime } from './fact.ts';

describe('the time that a forge writes', () => {
  it.each([
    ['2026-11-28T12:57:02Z'],
    ['2026-11-28T12:57:02.000Z'],
    ['2026-11-28T13:57:02+01:00'],
    ['2026-11-28T13:57:02.000+01:00'],
    ['2026-11-28 12:57:02 UTC'],
    ['2026-11-28 13:57:02 +0100'],
    ['2026-11-28 05:57:02 -0700'],
    ['2026-11-28 18:27:02 +05:30'],
    ['2026-11-28 12:57:02 +0000'],
    ['2026-11-28 13:57:02 +01'],
    ['2026-11-28 12:57:02.000000 UTC'],
    ['2026-11-28T12:57:02.000000000Z'],
    ['2026-11-28T12:57:02+0000'],
    [1_795_870_622],
  ])('is the same second: %s', (value) => {
    expect(ForgeTime.parse(value)).toBe('2026-11-28T12:57:02.000Z');
  });

  it.each([['0001-01-01T00:00:00Z'], ['0001-01-01T00:00:00+01:00'], ['1970-01-01T00:00:00Z'], [0], [-5]])(
    'that is not known comes before all others: %s',
    (value) => {
      expect(ForgeTime.parse(value)).toBe('1970-01-01T00:00:00.000Z');
    },
  );

  it.each([
    '',
    'yesterday',
    '2026-11-28',
    '2026-13-28T12:57:02Z',
    '2026-11-28 12:57:02',
    8.64e15,
    9e15,
    true,
  ])('is refused: %s', (value) => {
    expect(ForgeTime.safeParse(value).success).toBe(false);
  });
});
