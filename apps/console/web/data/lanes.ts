/** Computes the columns of the board with their cards: the server's order, with pending moves applied. */
import { type BoardColumn, type StoryCard } from '@muster/contract';

/** A position before a card, or at the end of a column if `beforeId` is null. */
export interface TargetPosition {
  readonly columnId: string;
  readonly beforeId: string | null;
}

export interface Lane {
  readonly column: BoardColumn;
  readonly cards: readonly StoryCard[];
}

const compareByRank = (left: StoryCard, right: StoryCard): number =>
  left.rank < right.rank ? -1 : left.rank > right.rank ? 1 : left.id < right.id ? -1 : 1;

/** Returns the previous object if the column still has the same cards, so that it is not rendered again. */
function reuseLane(column: BoardColumn, cards: readonly StoryCard[], previousLanes: readonly Lane[]): Lane {
  const last = previousLanes.find((lane) => lane.column.id === column.id);
  const isSame =
    last?.column === column &&
    last.cards.length === cards.length &&
    cards.every((card, index) => card === last.cards[index]);
  return isSame ? last : { column, cards };
}

/** Sorts the cards into their columns in the server's order. Unchanged columns keep their object. */
export function groupCardsIntoLanes(
  columns: readonly BoardColumn[],
  cards: ReadonlyMap<string, StoryCard>,
  previousLanes: readonly Lane[] = [],
): Lane[] {
  const byColumn = new Map<string, StoryCard[]>(columns.map(({ id }) => [id, []]));
  for (const card of cards.values()) if (card.columnId !== null) byColumn.get(card.columnId)?.push(card);
  return columns.map((column) =>
    reuseLane(column, (byColumn.get(column.id) ?? []).sort(compareByRank), previousLanes),
  );
}

/** Applies pending moves. Only the columns that a card leaves or enters get a new object. */
export function applyPendingMoves(
  serverLanes: readonly Lane[],
  cards: ReadonlyMap<string, StoryCard>,
  moves: ReadonlyMap<string, TargetPosition>,
  previousLanes: readonly Lane[] = [],
): readonly Lane[] {
  if (moves.size === 0) return serverLanes;
  const touched = new Set<string | null>();
  for (const [id, { columnId }] of moves) touched.add(columnId).add(cards.get(id)?.columnId ?? null);
  return serverLanes.map((lane) => {
    const { column } = lane;
    if (!touched.has(column.id)) return lane;
    const list = lane.cards.filter(({ id }) => !moves.has(id));
    for (const [id, { columnId, beforeId }] of moves) {
      const card = cards.get(id);
      if (card === undefined || columnId !== column.id) continue;
      const at = beforeId === null ? -1 : list.findIndex((one) => one.id === beforeId);
      list.splice(at < 0 ? list.length : at, 0, card);
    }
    return reuseLane(column, list, previousLanes);
  });
}

/**
 * Returns the parameters that describe a move to the API: the card that will follow the moved one, or the
 * last card of the column.
 */
export function moveParameters(
  laneCards: readonly StoryCard[],
  { beforeId }: TargetPosition,
  movedId: string,
): { readonly beforeStoryId?: string; readonly afterStoryId?: string } {
  if (beforeId !== null) return { beforeStoryId: beforeId };
  const last = laneCards.findLast(({ id }) => id !== movedId);
  return last === undefined ? {} : { afterStoryId: last.id };
}
