/** Which card stands where: what the server said, and over it the moves that are still on their way. */
import { type BoardColumn, type StoryCard } from '@muster/registry';

/** Right before a card, or at the end of a column. */
export interface Place {
  readonly columnId: string;
  readonly beforeId: string | null;
}

export interface Lane {
  readonly column: BoardColumn;
  readonly cards: readonly StoryCard[];
}

const byRank = (one: StoryCard, other: StoryCard): number =>
  one.rank < other.rank ? -1 : one.rank > other.rank ? 1 : one.id < other.id ? -1 : 1;

/** The columns with their cards in order. Columns in which nothing changed keep their list. */
export function lanesOf(
  columns: readonly BoardColumn[],
  cards: ReadonlyMap<string, StoryCard>,
  moves: ReadonlyMap<string, Place>,
  before: readonly Lane[] = [],
): Lane[] {
  const byColumn = new Map<string, StoryCard[]>(columns.map(({ id }) => [id, []]));
  for (const card of cards.values()) {
    if (card.columnId !== null && !moves.has(card.id)) byColumn.get(card.columnId)?.push(card);
  }
  for (const list of byColumn.values()) list.sort(byRank);
  for (const [id, { columnId, beforeId }] of moves) {
    const card = cards.get(id);
    const list = byColumn.get(columnId);
    if (card === undefined || list === undefined) continue;
    const at = beforeId === null ? -1 : list.findIndex((one) => one.id === beforeId);
    list.splice(at < 0 ? list.length : at, 0, card);
  }
  return columns.map((column) => {
    const list = byColumn.get(column.id) ?? [];
    const last = before.find((lane) => lane.column.id === column.id);
    const isSame =
      last?.column === column &&
      last.cards.length === list.length &&
      list.every((card, index) => card === last.cards[index]);
    return isSame ? last : { column, cards: list };
  });
}

/** How the move is asked for: by a neighbour, of which one of the two has to be there. */
export function neighbourOf(
  lane: readonly StoryCard[],
  { beforeId }: Place,
  movedId: string,
): { readonly beforeStoryId?: string; readonly afterStoryId?: string } {
  if (beforeId !== null) return { beforeStoryId: beforeId };
  const last = lane.findLast(({ id }) => id !== movedId);
  return last === undefined ? {} : { afterStoryId: last.id };
}
