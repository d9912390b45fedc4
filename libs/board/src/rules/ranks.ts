/** Ranks order the stories of a column by byte comparison. Between any two ranks another one fits. */
import { newId } from '@muster/driver';
import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing';

/**
 * The rank length above which the whole column gets new ranks. About 300 insertions at the same place produce
 * such a rank.
 */
export const maxRankLength = 64;

/** Returns a rank between two neighbors. Null means the end of the column on that side. */
export const rankBetween = (lower: string | null, upper: string | null): string =>
  generateKeyBetween(lower, upper);

/** Returns `count` short, evenly spaced ranks after `last`, in order. */
export const ranksAfter = (last: string | null, count: number): string[] =>
  generateNKeysBetween(last, null, count);

interface RankedStory {
  readonly id: string;
  readonly rank: string;
}

/**
 * Assigns short, even ranks to a column, with the moved story right after the rank `lower`. All new ranks
 * follow the column's last one. Two rows therefore never have the same rank, which a unique index checks row
 * by row.
 */
export function rerankColumn(
  columnStories: readonly RankedStory[],
  movedId: string,
  lower: string | null,
): { readonly ownRank: string; readonly otherRanks: RankedStory[] } {
  const inOrder = [...columnStories].sort((one, other) => (one.rank < other.rank ? -1 : 1));
  const others = inOrder.filter(({ id }) => id !== movedId);
  const before = others.filter(({ rank }) => lower !== null && rank <= lower);
  const wanted = [...before.map(({ id }) => id), movedId, ...others.slice(before.length).map(({ id }) => id)];
  const ranks = ranksAfter(inOrder.at(-1)?.rank ?? null, wanted.length);
  const fresh = ranks.map((rank, index) => ({ id: wanted[index] ?? movedId, rank }));
  return {
    ownRank: ranks[before.length] ?? rankBetween(lower, null),
    otherRanks: fresh.filter(({ id }) => id !== movedId),
  };
}

/**
 * Returns the rank of a canceled story. Canceled stories are in no column, and their order is that of
 * cancellation.
 */
export const createCanceledRank = (): string => newId();
