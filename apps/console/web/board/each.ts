/** Changes several stories one after the other, in the order of the board, so that they keep that order. */
import { type StoryCard } from '@muster/registry';
import { type Board, type ChangeOutcome } from '../data/boards.ts';
import { notify, errorText } from '../components/notices.tsx';
import { t } from '../messages/index.ts';

export interface BulkChange {
  readonly act: (card: StoryCard) => Promise<ChangeOutcome>;
  /** Returns the display text of the story's current value. */
  readonly valueOf: (card: StoryCard) => string;
  readonly mine: string;
}

export const changeOfPriority = (board: Board, priority: StoryCard['priority']): BulkChange => ({
  act: (card) => board.setPriority(card, priority),
  valueOf: (card) => t.priority[card.priority],
  mine: t.priority[priority],
});

export function changeOfColumn(board: Board, columnId: string): BulkChange {
  const nameOf = (id: string | null): string =>
    board.view().lanes.find(({ column }) => column.id === id)?.column.name ?? t.status.canceled;
  return {
    act: (card) => board.move(card.id, { columnId, beforeId: null }, card),
    valueOf: (card) => nameOf(card.columnId),
    mine: nameOf(columnId),
  };
}

export const cancelChange = (board: Board): BulkChange => ({
  act: (card) =>
    board.cancel(card).then(
      () => ({ type: 'changed' }) as const,
      (error: unknown) => ({ type: 'refused', error }) as const,
    ),
  valueOf: (card) => t.status[card.status],
  mine: t.status.canceled,
});

/**
 * Applies the change to each card. Stories that could not be changed stay selected and are named, each with
 * the conflicting value next to the wanted one.
 */
export async function applyToCards(
  cards: readonly StoryCard[],
  change: BulkChange,
  onSelect: (ids: ReadonlySet<string>) => void,
): Promise<void> {
  const refused: StoryCard[] = [];
  const met: StoryCard[] = [];
  let reason: unknown;
  for (const card of cards) {
    const outcome = await change.act(card);
    if (outcome.type === 'met') met.push(outcome.theirs);
    if (outcome.type !== 'refused') continue;
    refused.push(card);
    reason = outcome.error;
  }
  onSelect(new Set([...refused, ...met].map(({ id }) => id)));
  if (refused.length > 0)
    notify({
      ...{ tone: 'bad', title: t.select.failed(refused.map(({ key }) => key).join(', ')) },
      body: errorText(reason),
    });
  if (met.length > 0)
    notify({
      ...{ tone: 'warn', title: t.select.met(met.length) },
      body: t.select.theirs(
        met.map((card) => [card.key, change.valueOf(card)]),
        change.mine,
      ),
      acts: [
        { name: t.move.keepTheirs, run: () => undefined, isMain: true },
        { name: t.select.anyway, run: () => void applyToCards(met, change, onSelect) },
      ],
    });
  if (refused.length + met.length === 0) notify({ tone: 'good', title: t.select.done(cards.length) });
}
