import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import {
  BadCursor,
  CursorId,
  CursorText,
  CursorTime,
  decodeCursor,
  encodeCursor,
  maxSearchedRows,
  pageOfRows,
  pageOfSearchRows,
} from './keyset.ts';

const Key = z.tuple([z.string(), z.int()]);

describe('a cursor', () => {
  it('comes back as the key that it was made of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer(), (text, number) => {
        expect(decodeCursor(encodeCursor([text, number]), Key)).toEqual([text, number]);
      }),
    );
  });

  it('is absent for the first page', () => {
    expect(decodeCursor(undefined, Key)).toBeUndefined();
  });

  it('of another list, or of nobody, is refused', () => {
    const foreign = [
      encodeCursor(['a']),
      encodeCursor([1, 'a']),
      encodeCursor(['a', 1, 2]),
      '',
      'x',
      '%%%',
      'bnVsbA',
      'e30',
    ];
    for (const cursor of foreign) expect(() => decodeCursor(cursor, Key)).toThrow(BadCursor);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (cursor) => {
        try {
          decodeCursor(cursor, Key);
        } catch (error) {
          expect(error).toBeInstanceOf(BadCursor);
        }
      }),
    );
  });
});

it.each([
  ['no id', CursorId, 'abc'],
  ['text with a NUL', CursorText, 'a\u0000b'],
  ['text with half a letter', CursorText, 'a\ud800'],
  ['text longer than any', CursorText, 'x'.repeat(1_025)],
  ['time of year 0', CursorTime, '0000-01-01T00:00:00.000Z'],
  ['no time', CursorTime, 'x'],
] as const)('a cursor with what Postgres would not take is refused: %s', (_what, part, value) => {
  const key = z.tuple([part]);
  expect(() => decodeCursor(encodeCursor([value]), key)).toThrow(BadCursor);
});

describe('pages', () => {
  /** Cuts a page like a database query does: it selects `limit + 1` rows after the cursor. */
  const pageOf = (rows: readonly number[], limit: number, cursor: string | undefined) => {
    const after = decodeCursor(cursor, z.tuple([z.int()]))?.[0] ?? -Infinity;
    const found = rows.filter((row) => row > after).slice(0, limit + 1);
    return pageOfRows(
      found,
      limit,
      (row) => [row],
      (row) => row,
    );
  };

  it('walked to the end show each row once and in order, whatever is added meanwhile', () => {
    const rows = fc.uniqueArray(fc.nat(), { maxLength: 60 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 20 }), fc.infiniteStream(fc.nat()), (some, limit, more) => {
        const all = [...some].sort((a, b) => a - b);
        const before = new Set(all);
        const seen: number[] = [];
        let cursor: string | undefined;
        do {
          const page = pageOf(all, limit, cursor);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          seen.push(...page.items);
          cursor = page.nextCursor ?? undefined;
          const [added] = more.take(1);
          if (added !== undefined && !all.includes(added)) all.push(added);
          all.sort((a, b) => a - b);
        } while (cursor !== undefined && seen.length < 500);
        expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
        expect(seen.filter((row) => before.has(row))).toEqual([...before]);
      }),
    );
  });

  it('end without a cursor, also when the last one is full', () => {
    expect(pageOf([1, 2, 3, 4], 2, encodeCursor([2]))).toEqual({ items: [3, 4], nextCursor: null });
    expect(pageOf([], 2, undefined)).toEqual({ items: [], nextCursor: null });
  });

  it('that were searched go on after the last row looked at, also where their rows were measured', () => {
    const match = { id: 7, fits: true, nth: 7, more_follow: true };
    const lastLookedAt = { id: 1_000, fits: false, nth: maxSearchedRows, more_follow: false };
    const pageOfFound = (rows: readonly (typeof match)[], limit: number) =>
      pageOfSearchRows(
        rows,
        limit,
        (row) => [row.id],
        (row) => row.id,
      );
    expect(pageOfFound([match, lastLookedAt], 50)).toEqual({ items: [7], nextCursor: encodeCursor([1_000]) });
    // The byte limit cut this page before the last examined row.
    expect(pageOfFound([match], 50)).toEqual({ items: [7], nextCursor: encodeCursor([7]) });
  });
});
