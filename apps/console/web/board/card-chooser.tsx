/** The menus of a card. A choice is shown immediately and never overwrites a concurrent change. */
import { useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { type Board, type ChangeOutcome } from '../data/boards.ts';
import { type Lane, type TargetPosition } from '../data/lanes.ts';
import Chooser, { type ChooserProps } from '../components/chooser.tsx';
import { announceToScreenReader, showNotice, errorText } from '../components/notices.tsx';
import { t } from '../messages/index.ts';
import {
  applyBulkChange,
  createColumnChange,
  createPriorityChange,
  createStatusChange,
  offerToUndo,
  restoreAssignees,
} from './each.ts';
import { statusNames } from './filter.ts';

export interface CardChooserProps extends Pick<ChooserProps, 'what' | 'anchor' | 'onClose'> {
  readonly board: Board;
  /** The columns of the project; none if the cards are of several projects. */
  readonly lanes: readonly Lane[];
  /** The card where the menu is open. */
  readonly card: StoryCard;
  /** The ids of the selected cards. */
  readonly selectedIds: ReadonlySet<string>;
  readonly move: (card: StoryCard, place: TargetPosition) => Promise<void>;
  readonly focusCard: (id: string) => void;
  readonly setSelected: (ids: ReadonlySet<string>) => void;
}

/** Returns the value that all cards share; null if they differ. */
function commonValue<Value>(
  cards: readonly StoryCard[],
  readValue: (card: StoryCard) => Value,
): Value | null {
  const [first, ...others] = cards.map(readValue);
  return first === undefined || others.some((value) => value !== first) ? null : first;
}

/** Returns the nearest card of the same column that stays. */
function nearestRemainingCard(
  removedCards: readonly StoryCard[],
  { id, columnId }: StoryCard,
  lanes: readonly Lane[],
) {
  const cards = lanes.find(({ column }) => column.id === columnId)?.cards ?? [];
  const at = cards.findIndex((card) => card.id === id);
  const stays = (card: StoryCard): boolean => !removedCards.some((one) => one.id === card.id);
  return cards.slice(at + 1).find(stays) ?? cards.slice(0, at).findLast(stays);
}

/**
 * Returns the cards that the menu changes. For status and priority, these are all selected cards if `card` is
 * selected. Otherwise it is only `card`.
 */
function affectedCards({ board, card, what, lanes, selectedIds }: CardChooserProps): readonly StoryCard[] {
  if (!selectedIds.has(card.id) || (what !== 'status' && what !== 'priority')) return [card];
  const cards = lanes.length === 0 ? [...board.cards()] : lanes.flatMap((lane) => lane.cards);
  return cards.filter(({ id }) => selectedIds.has(id));
}

export default function CardChooser(props: CardChooserProps) {
  const { board, lanes, card, move, focusCard, setSelected, what, anchor, onClose } = props;
  // The cards as they were when the menu opened.
  const [cards] = useState(() => affectedCards(props));
  const isOne = cards.length === 1;
  const settle = ({ key }: StoryCard, outcome: ChangeOutcome, value: string): boolean => {
    if (outcome.type === 'changed') announceToScreenReader(t.move.set(key, value));
    else if (outcome.type === 'refused')
      showNotice({ tone: 'bad', title: t.move.notChanged(key), body: errorText(outcome.error) });
    return outcome.type !== 'met';
  };
  const setPriority = async (card: StoryCard, priority: StoryCard['priority']): Promise<void> => {
    const outcome = await board.setPriority(card, priority);
    if (priority !== card.priority) offerToUndo(board, [card], [outcome], createPriorityChange(priority));
    if (settle(card, outcome, t.priority[priority]) || outcome.type !== 'met') return;
    const { theirs } = outcome;
    showNotice({
      ...{ tone: 'warn', title: t.move.conflict(card.key) },
      body: `${t.met.theirs}: ${t.priority[theirs.priority]} · ${t.met.mine}: ${t.priority[priority]}`,
      actions: [
        { name: t.move.keepTheirs, run: () => undefined, isMain: true },
        { name: t.met.saveMine, run: () => void setPriority(theirs, priority) },
      ],
    });
  };
  const setStatus = async (status: StoryCard['status']) => {
    const column = lanes.find((lane) => lane.column.status === status)?.column;
    if (isOne && column !== undefined) return move(card, { columnId: column.id, beforeId: null });
    const others = cards.filter((one) => one.status !== status);
    const change = column === undefined ? createStatusChange(status) : createColumnChange(board, column.id);
    const next = nearestRemainingCard(cards, card, lanes);
    await applyBulkChange(board, others, change, isOne ? () => undefined : setSelected);
    if (next !== undefined && board.card(card.id)?.columnId == null) focusCard(next.id);
  };
  const assign = async (who: Partial<StoryCard['assignees']>): Promise<void> => {
    const newValue = (who.member ?? who.agent)?.name ?? t.people.unassigned;
    const outcome = await board.assign(card, who);
    settle(card, outcome, newValue);
    offerToUndo(board, [card], [outcome], {
      newValue,
      undo: restoreAssignees({
        ...(who.member !== undefined && { member: who.member?.id ?? null }),
        ...(who.agent !== undefined && { agent: who.agent?.id ?? null }),
      }),
    });
  };

  /** Sets the priority of the cards, and skips cards that already have that priority. */
  const setPriorities = async (priority: StoryCard['priority']) => {
    const others = cards.filter((card) => card.priority !== priority);
    await applyBulkChange(board, others, createPriorityChange(priority), setSelected);
  };

  const statuses = new Set(lanes.length === 0 ? statusNames : lanes.map(({ column }) => column.status));
  return (
    <Chooser
      {...{ what, anchor, onClose }}
      story={{
        ...card,
        status: commonValue(cards, ({ status }) => status),
        priority: commonValue(cards, ({ priority }) => priority),
      }}
      count={cards.length}
      statuses={[...statuses.add('canceled')]}
      onStatus={(status) => void setStatus(status)}
      onPriority={(priority) => void (isOne ? setPriority(card, priority) : setPriorities(priority))}
      onAssign={(who) => void assign(who)}
    />
  );
}
