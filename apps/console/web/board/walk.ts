/** Computes keyboard navigation on a board: from a card to its neighbor, and from a position to the next. */
import { type Lane } from '../data/lanes.ts';

type CardLanes = readonly Pick<Lane, 'cards'>[];

export interface CardPosition {
  readonly lane: number;
  readonly row: number;
}

export function findCardPosition(lanes: CardLanes, cardId: string | null): CardPosition | undefined {
  for (const [lane, { cards }] of lanes.entries()) {
    const row = cards.findIndex((card) => card.id === cardId);
    if (row >= 0) return { lane, row };
  }
  return undefined;
}

export type NavigationDirection = 'up' | 'down' | 'left' | 'right' | 'first' | 'last';

const directionByKey: Readonly<Record<string, NavigationDirection>> = {
  ArrowUp: 'up',
  k: 'up',
  ArrowDown: 'down',
  j: 'down',
  ArrowLeft: 'left',
  h: 'left',
  ArrowRight: 'right',
  l: 'right',
  Home: 'first',
  End: 'last',
};
export const directionForKey = (key: string): NavigationDirection | undefined => directionByKey[key];

/**
 * Returns the position of the next card in the direction of `step`. To the left and right, this is the card
 * in the same row of the next column that has cards. Returns undefined if there is no such card.
 */
export function nextCardPosition(
  lanes: CardLanes,
  from: CardPosition,
  direction: NavigationDirection,
): CardPosition | undefined {
  const { lane, row } = from;
  const last = (lanes[lane]?.cards.length ?? 0) - 1;
  if (direction === 'first') return { lane, row: 0 };
  if (direction === 'last') return { lane, row: last };
  if (direction === 'up' || direction === 'down') {
    const next = row + (direction === 'up' ? -1 : 1);
    return next < 0 || next > last ? undefined : { lane, row: next };
  }
  const by = direction === 'left' ? -1 : 1;
  for (let next = lane + by; next >= 0 && next < lanes.length; next += by) {
    const count = lanes[next]?.cards.length ?? 0;
    if (count > 0) return { lane: next, row: Math.min(row, count - 1) };
  }
  return undefined;
}

/** Returns the next position of a card that is being moved, which may be in an empty column. */
export function nextMovePosition(
  lanes: CardLanes,
  from: CardPosition,
  direction: NavigationDirection,
): CardPosition {
  const { lane, row } = from;
  const last = (lanes[lane]?.cards.length ?? 1) - 1;
  if (direction === 'first') return { lane, row: 0 };
  if (direction === 'last') return { lane, row: last };
  if (direction === 'up') return { lane, row: Math.max(0, row - 1) };
  if (direction === 'down') return { lane, row: Math.min(last, row + 1) };
  const next = Math.max(0, Math.min(lanes.length - 1, lane + (direction === 'left' ? -1 : 1)));
  if (next === lane) return from;
  return { lane: next, row: Math.min(row, lanes[next]?.cards.length ?? 0) };
}

/**
 * Returns the id of the card before which the moved card would be inserted at this position. The moved card
 * itself is not counted. Returns null for the end of the column.
 */
export function getFollowingCardId(
  lanes: CardLanes,
  { lane, row }: CardPosition,
  movedId: string,
): string | null {
  const others = lanes[lane]?.cards.filter(({ id }) => id !== movedId) ?? [];
  return others[row]?.id ?? null;
}
