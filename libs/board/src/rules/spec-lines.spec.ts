import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countChangesIgnoringOrder, countLineChanges, splitLines } from './spec-lines.ts';

describe('lineChanges', () => {
  it.each([
    ['', '', 0, 0],
    ['', 'a\nb\n', 2, 0],
    ['', 'a\nb', 2, 0],
    ['a\nb\n', '', 0, 2],
    ['a\nb\nc\n', 'a\nx\nc\n', 1, 1],
    ['a\nb\n', 'a\nb\nc\n', 1, 0],
    ['a\n\n', 'a\n', 0, 1],
    ['a', 'a\n', 0, 0],
    ['a\nb', 'a\nb\nc', 1, 0],
    ['\n', 'a\n', 1, 1],
    ['a\r\nb\r\n', 'a\nb\r\n', 1, 1],
    ['a\nb\n', 'b\na\n', 1, 1],
  ])('from %j to %j', (before, after, linesAdded, linesRemoved) => {
    expect(countLineChanges(before, after)).toEqual({ linesAdded, linesRemoved });
  });

  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((lines) => lines.join('\n'));

  /** Counts changes by the longest common subsequence, in the textbook way: lines outside of it changed. */
  function shortest(old: string[], fresh: string[]) {
    const lengths = old.map(() => fresh.map(() => 0));
    const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
    for (const [row, line] of old.entries()) {
      for (const [column, other] of fresh.entries()) {
        const length =
          line === other ? at(row - 1, column - 1) + 1 : Math.max(at(row - 1, column), at(row, column - 1));
        lengths[row]?.splice(column, 1, length);
      }
    }
    const common = at(old.length - 1, fresh.length - 1);
    return { linesAdded: fresh.length - common, linesRemoved: old.length - common };
  }

  it('counts the shortest way from one text to the other', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(countLineChanges(before, after)).toEqual(shortest(splitLines(before), splitLines(after)));
      }),
      { numRuns: 500 },
    );
  });

  it('accounts for the difference in lines, and never counts less than what cannot have stayed', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const changes = countLineChanges(before, after);
        const least = countChangesIgnoringOrder(splitLines(before), splitLines(after));
        expect(changes.linesAdded - changes.linesRemoved).toBe(
          splitLines(after).length - splitLines(before).length,
        );
        expect(least.linesAdded - least.linesRemoved).toBe(changes.linesAdded - changes.linesRemoved);
        expect(changes.linesAdded).toBeGreaterThanOrEqual(least.linesAdded);
      }),
    );
  });

  it('counts right, and comes to an end, however unlike two specs of the largest size are', () => {
    const most = 256 * 1024;
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const lines = (count: number, alphabet: number): string =>
      Array.from({ length: count }, () => `${random(alphabet)}\n`)
        .join('')
        .slice(0, most);
    const pairs = [
      ['\n'.repeat(most), '\n'.repeat(most - 1_000)],
      [lines(9_999, 2), lines(9_999, 2)],
      [lines(9_999, 1_000_000), lines(9_999, 1_000_000)],
      [lines(100_000, 10), lines(100_000, 10)],
      [`${'\n'.repeat(5_000)}${'a\n'.repeat(4_900)}`, `${'a\n'.repeat(4_900)}${'\n'.repeat(5_000)}`],
      ['a'.repeat(most), 'b'.repeat(most)],
    ] as const;
    for (const [before, after] of pairs) {
      const { linesAdded, linesRemoved } = countLineChanges(before, after);
      expect(linesAdded - linesRemoved).toBe(splitLines(after).length - splitLines(before).length);
    }
  });
});
