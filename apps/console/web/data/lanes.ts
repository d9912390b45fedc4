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

/** As it was where it is the same list of the same cards: what is drawn from it need not be drawn again. */
function kept(column: BoardColumn, cards: readonly StoryCard[], before: readonly Lane[]): Lane {
  const last = before.find((lane) => lane.column.id === column.id);
  const isSame =
    last?.column === column &&
    last.cards.length === cards.length &&
    cards.every((card, index) => card === last.cards[index]);
  return isSame ? last : { column, cards };
}

/** The columns with their cards in order, as the server has them. Columns in which nothing changed keep their list. */
export function standingLanes(
  columns: readonly BoardColumn[],
  cards: ReadonlyMap<string, StoryCard>,
  before: readonly Lane[] = [],
): Lane[] {
  const byColumn = new Map<string, StoryCard[]>(columns.map(({ id }) => [id, []]));
  for (const card of cards.values()) if (card.columnId !== null) byColumn.get(card.columnId)?.push(card);
  return columns.map((column) => kept(column, (byColumn.get(column.id) ?? []).sort(byRank), before));
}

/** The same with moves that are on their way. Only columns that they leave or reach are made anew. */
export function movedLanes(
  standing: readonly Lane[],
  cards: ReadonlyMap<string, StoryCard>,
  moves: ReadonlyMap<string, Place>,
  before: readonly Lane[] = [],
): readonly Lane[] {
  if (moves.size === 0) return standing;
  const touched = new Set<string | null>();
  for (const [id, { columnId }] of moves) touched.add(columnId).add(cards.get(id)?.columnId ?? null);
  return standing.map((lane) => {
    const { column } = lane;
    if (!touched.has(column.id)) return lane;
    const list = lane.cards.filter(({ id }) => !moves.has(id));
    for (const [id, { columnId, beforeId }] of moves) {
      const card = cards.get(id);
      if (card === undefined || columnId !== column.id) continue;
      const at = beforeId === null ? -1 : list.findIndex((one) => one.id === beforeId);
      list.splice(at < 0 ? list.length : at, 0, card);
    }
    return kept(column, list, before);
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
