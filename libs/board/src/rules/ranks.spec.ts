import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCanceledRank, maxRankLength, rerankColumn, rankBetween } from './ranks.ts';

interface Ranked {
  id: string;
  rank: string;
}

/** Places a row in a column as the operations do. The array has no order; only the ranks order its rows. */
function place(column: Ranked[], id: string, after: string | undefined): Ranked[] {
  const others = sortByRank(column).filter((row) => row.id !== id);
  const index = others.findIndex((row) => row.id === after);
  const lower = others[index]?.rank ?? null;
  const rank = rankBetween(lower, others[index + 1]?.rank ?? null);
  if (rank.length <= maxRankLength) return [...others, { id, rank }];
  const fresh = rerankColumn(column, id, lower);
  return [...fresh.otherRanks, { id, rank: fresh.ownRank }];
}

const sortByRank = (column: Ranked[]) => column.toSorted((one, other) => (one.rank < other.rank ? -1 : 1));

describe('ranks', () => {
  it('keep the order of a list in which stories are put anywhere, any number of times', () => {
    const step = fc.record({ moved: fc.nat(12), after: fc.nat(12) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        let column: Ranked[] = [];
        let list: string[] = [];
        for (const { moved, after } of steps) {
          const [id, anchor] = [`s${moved}`, `s${after}`];
          if (id === anchor) continue;
          column = place(column, id, anchor);
          list = list.filter((other) => other !== id);
          list.splice(list.indexOf(anchor) + 1, 0, id);
          expect(sortByRank(column).map((row) => row.id)).toEqual(list);
        }
      }),
    );
  });

  it('stay short, and unique at every moment, when everybody puts stories at one and the same place', () => {
    let column = [{ id: 'first', rank: rankBetween(null, null) }];
    let afresh = 0;
    for (let n = 0; n < 1_000; n += 1) {
      const before = new Set(column.map(({ rank }) => rank));
      const next = place(column, `s${n}`, 'first');
      expect(new Set(next.map(({ rank }) => rank)).size).toBe(n + 2);
      if (next.some(({ id, rank }) => id === 'first' && !before.has(rank))) {
        afresh += 1;
        // No new rank equals one that another row still has, because the index checks row by row.
        expect(next.filter(({ rank }) => before.has(rank))).toEqual([]);
      }
      expect(next.every(({ rank }) => rank.length <= maxRankLength)).toBe(true);
      column = next;
    }
    expect(sortByRank(column).map(({ id }) => id)).toEqual([
      'first',
      ...Array.from({ length: 1_000 }, (_, n) => `s${999 - n}`),
    ]);
    expect(afresh).toBeGreaterThan(0);
  });

  it('of canceled stories follow the order in which they were canceled', () => {
    const ranks = Array.from({ length: 50 }, createCanceledRank);
    expect(ranks.toSorted()).toEqual(ranks);
  });
});
