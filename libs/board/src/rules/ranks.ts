/** Ranks order the stories of a column, compared byte by byte; between any two there is room for another. */
import { newId } from '@muster/driver';
import { generateKeyBetween, generateNKeysBetween } from 'fractional-indexing';

/** A rank longer than this makes its column be ranked afresh. Some 300 stories put at one and the same place get there. */
export const longestRank = 64;

/** A rank between two neighbours; null is the end of the column on that side. */
export const rankBetween = (lower: string | null, upper: string | null): string =>
  generateKeyBetween(lower, upper);

/** `count` ranks after `last`, in order, evenly and short. */
export const ranksAfter = (last: string | null, count: number): string[] =>
  generateNKeysBetween(last, null, count);

interface Ranked {
  readonly id: string;
  readonly rank: string;
}

/**
 * Ranks a column afresh, evenly and short, with the moved story right after the rank `lower`. All new ranks are
 * behind the column's last one: so no two rows have one rank at any moment, which an index checks row by row.
 */
export function rankAfresh(
  column: readonly Ranked[],
  movedId: string,
  lower: string | null,
): { readonly own: string; readonly others: Ranked[] } {
  const inOrder = [...column].sort((one, other) => (one.rank < other.rank ? -1 : 1));
  const others = inOrder.filter(({ id }) => id !== movedId);
  const before = others.filter(({ rank }) => lower !== null && rank <= lower);
  const wanted = [...before.map(({ id }) => id), movedId, ...others.slice(before.length).map(({ id }) => id)];
  const ranks = ranksAfter(inOrder.at(-1)?.rank ?? null, wanted.length);
  const fresh = ranks.map((rank, index) => ({ id: wanted[index] ?? movedId, rank }));
  return {
    own: ranks[before.length] ?? rankBetween(lower, null),
    others: fresh.filter(({ id }) => id !== movedId),
  };
}

/** Canceled stories are in no column; they stand in the order in which they were canceled. */
export const canceledRank = (): string => newId();
