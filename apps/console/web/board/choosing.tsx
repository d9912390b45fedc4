/** The menus at a card: what is chosen is shown at once, and never written over what another wrote meanwhile. */
import { Suspense, useEffect, useState } from 'react';
import { type StoryCard } from '@muster/registry';
import { type Board, type Changed } from '../data/boards.ts';
import { type Lane, type Place } from '../data/lanes.ts';
import { Chooser, type Choosing, loadChooser } from '../parts/choosing.ts';
import { announce, notify, reasonFor } from '../parts/notices.tsx';
import { t } from '../texts/index.ts';

export interface Chosen {
  readonly what: Choosing;
  /** At which the menu is. */
  readonly card: StoryCard;
  /** What it is for, as it was when the menu opened. */
  readonly cards: readonly StoryCard[];
}

/** What all of them have; null where they differ. */
function common<Value>(cards: readonly StoryCard[], of: (card: StoryCard) => Value): Value | null {
  const [first, ...others] = cards.map(of);
  return first === undefined || others.some((value) => value !== first) ? null : first;
}

/** The nearest card of its column that stays. */
function besides(gone: readonly StoryCard[], { id, columnId }: StoryCard, lanes: readonly Lane[]) {
  const cards = lanes.find(({ column }) => column.id === columnId)?.cards ?? [];
  const at = cards.findIndex((card) => card.id === id);
  const stays = (card: StoryCard): boolean => !gone.some((one) => one.id === card.id);
  return cards.slice(at + 1).find(stays) ?? cards.slice(0, at).findLast(stays);
}

export function useChoosing(
  board: Board,
  move: (card: StoryCard, place: Place) => Promise<void>,
  focusCard: (id: string) => void,
  onSelect: (ids: ReadonlySet<string>) => void,
) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  useEffect(loadChooser, []);

  const settle = ({ key }: StoryCard, outcome: Changed, value: string): boolean => {
    if (outcome.type === 'changed') announce(t.move.set(key, value));
    else if (outcome.type === 'refused')
      notify({ tone: 'bad', title: t.move.notChanged(key), body: reasonFor(outcome.error) });
    return outcome.type !== 'met';
  };
  const setPriority = async (card: StoryCard, priority: StoryCard['priority']): Promise<void> => {
    const outcome = await board.setPriority(card, priority);
    if (settle(card, outcome, t.priority[priority]) || outcome.type !== 'met') return;
    const { theirs } = outcome;
    notify({
      ...{ tone: 'warn', title: t.move.conflict(card.key) },
      body: `${t.met.theirs}: ${t.priority[theirs.priority]} · ${t.met.mine}: ${t.priority[priority]}`,
      acts: [
        { name: t.move.keepTheirs, run: () => undefined, isMain: true },
        { name: t.met.saveMine, run: () => void setPriority(theirs, priority) },
      ],
    });
  };
  const setStatus = async (card: StoryCard, status: StoryCard['status'], lanes: readonly Lane[]) => {
    const column = lanes.find((lane) => lane.column.status === status)?.column;
    if (column !== undefined) return move(card, { columnId: column.id, beforeId: null });
    const next = besides([card], card, lanes);
    try {
      await board.cancel(card);
      announce(t.move.set(card.key, t.status[status]));
      if (next !== undefined) focusCard(next.id);
    } catch (error) {
      notify({ tone: 'bad', title: t.move.notChanged(card.key), body: reasonFor(error) });
    }
  };
  const assign = async (card: StoryCard, who: Partial<StoryCard['assignees']>): Promise<void> => {
    const name = (who.member ?? who.agent)?.name ?? t.people.unassigned;
    settle(card, await board.assign(card, who), name);
  };

  /** Of several, those that have it already are left alone. What does it came with the bar of the selection. */
  const setPriorities = async (cards: readonly StoryCard[], priority: StoryCard['priority']) => {
    const { changeEach, toPriority } = await import('./each.ts');
    const others = cards.filter((card) => card.priority !== priority);
    await changeEach(others, toPriority(board, priority), onSelect);
  };
  const setStatuses = async (
    { card, cards }: Chosen,
    status: StoryCard['status'],
    lanes: readonly Lane[],
  ) => {
    const { changeEach, offTheBoard, toColumn } = await import('./each.ts');
    const others = cards.filter((one) => one.status !== status);
    const column = lanes.find((lane) => lane.column.status === status)?.column;
    if (column !== undefined) return changeEach(others, toColumn(board, column.id), onSelect);
    const next = besides(cards, card, lanes);
    await changeEach(others, offTheBoard(board), onSelect);
    if (next !== undefined && board.card(card.id)?.columnId == null) focusCard(next.id);
  };

  const chooser = (lanes: readonly Lane[], area: () => HTMLElement | null) => {
    if (chosen === null) return null;
    const { what, card, cards } = chosen;
    const isOne = cards.length === 1;
    const statuses = new Set(lanes.map(({ column }) => column.status));
    return (
      <Suspense fallback={null}>
        <Chooser
          key={`${what} ${card.id}`}
          what={what}
          story={{
            ...card,
            status: common(cards, ({ status }) => status),
            priority: common(cards, ({ priority }) => priority),
          }}
          count={cards.length}
          statuses={[...statuses, 'canceled']}
          anchor={() => area()?.querySelector<HTMLElement>(`[data-card="${card.id}"]`) ?? null}
          onStatus={(status) =>
            void (isOne ? setStatus(card, status, lanes) : setStatuses(chosen, status, lanes))
          }
          onPriority={(priority) =>
            void (isOne ? setPriority(card, priority) : setPriorities(cards, priority))
          }
          onAssign={(who) => void assign(card, who)}
          onClose={(isBack) => {
            setChosen(null);
            if (isBack) focusCard(card.id);
          }}
        />
      </Suspense>
    );
  };
  return {
    isChoosing: chosen !== null,
    choose: (what: Choosing, card: StoryCard, cards: readonly StoryCard[] = [card]) =>
      setChosen({ what, card, cards }),
    giveUp: () => setChosen(null),
    chooser,
  };
}
