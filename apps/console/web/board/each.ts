/** Changes several stories in one call, in the order of the board, so that they keep that order. */
import { type StoryCard } from '@muster/registry';
import { type Board, type CardsChange } from '../data/boards.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { t } from '../messages/index.ts';

export interface BulkChange extends CardsChange {
  /** Returns the display text of the story's current value. */
  readonly currentValueOf: (card: StoryCard) => string;
  readonly newValue: string;
}

export const createPriorityChange = (priority: StoryCard['priority']): BulkChange => ({
  set: { priority },
  isUntouched: (known, theirs) => theirs.priority === known.priority || theirs.priority === priority,
  currentValueOf: (card) => t.priority[card.priority],
  newValue: t.priority[priority],
});

const isInSameColumn = (known: StoryCard, theirs: StoryCard): boolean => theirs.columnId === known.columnId;

export function createColumnChange(board: Board, columnId: string): BulkChange {
  const nameOf = (id: string | null): string =>
    board.view().lanes.find(({ column }) => column.id === id)?.column.name ?? t.status.canceled;
  return {
    ...{ set: { columnId }, isUntouched: isInSameColumn },
    currentValueOf: (card) => nameOf(card.columnId),
    newValue: nameOf(columnId),
  };
}

/** Changes a field that holds an id or a date. `nameOf` returns the display text of a value. */
export function createFieldChange(
  set: BulkChange['set'] & object,
  read: (card: StoryCard) => string | null,
  nameOf: (value: string | null) => string,
): BulkChange {
  const [wanted = null] = Object.values(set) as (string | null)[];
  return {
    ...{ set, newValue: nameOf(wanted) },
    isUntouched: (known, theirs) => read(theirs) === read(known) || read(theirs) === wanted,
    currentValueOf: (card) => nameOf(read(card)),
  };
}

/** Changes the status. Each story moves to the first column of its project with that status. */
export const createStatusChange = (status: StoryCard['status']): BulkChange => ({
  set: { status },
  isUntouched: (known, theirs) => theirs.status === known.status || theirs.status === status,
  currentValueOf: (card) => t.status[card.status],
  newValue: t.status[status],
});

export const cancelChange: BulkChange = {
  ...{ set: { status: 'canceled' }, isUntouched: isInSameColumn },
  currentValueOf: (card) => t.status[card.status],
  newValue: t.status.canceled,
};

/**
 * Applies the change to the cards. Stories that could not be changed stay selected and are named, each with
 * the conflicting value next to the wanted one.
 */
export async function applyBulkChange(
  board: Board,
  cards: readonly StoryCard[],
  change: BulkChange,
  selectCards: (ids: ReadonlySet<string>) => void,
): Promise<void> {
  const refused: StoryCard[] = [];
  const met: StoryCard[] = [];
  let reason: unknown;
  const outcomes = await board.changeMany(cards, change);
  for (const [index, card] of cards.entries()) {
    const outcome = outcomes[index];
    if (outcome?.type === 'met') met.push(outcome.theirs);
    if (outcome?.type !== 'refused') continue;
    refused.push(card);
    reason = outcome.error;
  }
  selectCards(new Set([...refused, ...met].map(({ id }) => id)));
  if (refused.length > 0)
    showNotice({
      ...{ tone: 'bad', title: t.select.failed(refused.map(({ key }) => key).join(', ')) },
      body: errorText(reason),
    });
  if (met.length > 0)
    showNotice({
      ...{ tone: 'warn', title: t.select.met(met.length) },
      body: t.select.theirs(
        met.map((card) => [card.key, change.currentValueOf(card)]),
        change.newValue,
      ),
      actions: [
        { name: t.move.keepTheirs, run: () => undefined, isMain: true },
        { name: t.select.anyway, run: () => void applyBulkChange(board, met, change, selectCards) },
      ],
    });
  if (refused.length + met.length === 0) showNotice({ tone: 'good', title: t.select.done(cards.length) });
}
