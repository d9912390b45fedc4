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
  /** As it was when the menu opened. */
  readonly card: StoryCard;
}

export function useChoosing(
  board: Board,
  move: (card: StoryCard, place: Place) => Promise<void>,
  focusCard: (id: string) => void,
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
    const cards = lanes.find((lane) => lane.column.id === card.columnId)?.cards ?? [];
    const at = cards.findIndex(({ id }) => id === card.id);
    const next = cards[at + 1] ?? cards[at - 1];
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

  const chooser = (lanes: readonly Lane[], area: () => HTMLElement | null) => {
    if (chosen === null) return null;
    const { what, card } = chosen;
    const statuses = new Set(lanes.map(({ column }) => column.status));
    return (
      <Suspense fallback={null}>
        <Chooser
          key={`${what} ${card.id}`}
          what={what}
          story={card}
          statuses={[...statuses, 'canceled']}
          anchor={() => area()?.querySelector<HTMLElement>(`[data-card="${card.id}"]`) ?? null}
          onStatus={(status) => void setStatus(card, status, lanes)}
          onPriority={(priority) => void setPriority(card, priority)}
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
    choose: (what: Choosing, card: StoryCard) => setChosen({ what, card }),
    giveUp: () => setChosen(null),
    chooser,
  };
}
