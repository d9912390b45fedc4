/** Moves a card by drop, by menu, or by keys in the move mode, all through the same function. */
import { useCallback, useState } from 'react';
import { type StoryCard } from '@muster/registry';
import { type Board } from '../data/boards.ts';
import { type Lane, type CardPlace } from '../data/lanes.ts';
import { announce, notify, errorText } from '../components/notices.tsx';
import { t } from '../messages/index.ts';
import { cardIdAtInsertion, nextMovePosition, positionOf, type WalkDirection } from './walk.ts';

/** The state of the move mode: the card as it was at the beginning, and its target position. */
export interface MoveInProgress {
  readonly card: StoryCard;
  readonly place: CardPlace;
}

const placeOf = (lanes: readonly Lane[], id: string) => {
  const spot = positionOf(lanes, id);
  const lane = spot === undefined ? undefined : lanes[spot.lane];
  return spot === undefined || lane === undefined
    ? undefined
    : { spot, name: lane.column.name, at: spot.row + 1, of: lane.cards.length };
};

export function useCardMoves(board: Board) {
  const [moving, setMoving] = useState<MoveInProgress | null>(null);

  const move = useCallback(
    async (card: StoryCard, place: CardPlace): Promise<void> => {
      const outcome = await board.move(card.id, place, card);
      const { lanes } = board.view();
      const nameOf = (columnId: string | null): string =>
        lanes.find(({ column }) => column.id === columnId)?.column.name ?? t.status.canceled;
      if (outcome.type === 'changed') {
        const now = placeOf(lanes, card.id);
        if (now !== undefined) announce(t.move.dropped(card.key, now.name, now.at, now.of));
        const [warning] = outcome.warnings ?? [];
        if (warning !== undefined) notify({ tone: 'warn', title: t.move.warned(card.key), body: warning });
      } else if (outcome.type === 'refused') {
        notify({ tone: 'bad', title: t.move.refused(card.key), body: errorText(outcome.error) });
      } else {
        const { theirs } = outcome;
        notify({
          tone: 'warn',
          title: t.move.conflict(card.key),
          body: `${t.move.theirs(nameOf(theirs.columnId), t.priority[theirs.priority])} · ${t.move.mine(nameOf(place.columnId))}`,
          acts: [
            { name: t.move.keepTheirs, run: () => undefined, isMain: true },
            { name: t.move.moveAnyway, run: () => void move(theirs, place) },
          ],
        });
      }
    },
    [board],
  );

  const begin = (lanes: readonly Lane[], card: StoryCard): void => {
    const now = placeOf(lanes, card.id);
    if (now === undefined || card.columnId === null) return;
    const place = { columnId: card.columnId, beforeId: cardIdAtInsertion(lanes, now.spot, card.id) };
    board.preview(card.id, place);
    setMoving({ card, place });
    announce(t.move.started(card.key, now.name, now.at, now.of));
  };

  const step = (lanes: readonly Lane[], to: WalkDirection): void => {
    if (moving === null) return;
    const from = positionOf(lanes, moving.card.id);
    if (from === undefined) return;
    const spot = nextMovePosition(lanes, from, to);
    const lane = lanes[spot.lane];
    if (lane === undefined) return;
    const place = { columnId: lane.column.id, beforeId: cardIdAtInsertion(lanes, spot, moving.card.id) };
    board.preview(moving.card.id, place);
    setMoving({ ...moving, place });
    const others = lane.cards.filter(({ id }) => id !== moving.card.id).length;
    announce(t.move.at(lane.column.name, spot.row + 1, others + 1));
  };

  const drop = (): void => {
    if (moving === null) return;
    setMoving(null);
    void move(moving.card, moving.place);
  };

  const giveUp = (): void => {
    if (moving === null) return;
    setMoving(null);
    board.preview(moving.card.id, null);
    announce(t.move.returned(moving.card.key));
  };

  return { moving, begin, step, drop, giveUp, move };
}
