/** Moves a card by drop, by menu, or by keys in the move mode, all through the same function. */
import { useCallback, useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { type Board } from '../data/boards.ts';
import { type Lane, type TargetPosition } from '../data/lanes.ts';
import { announceToScreenReader, showNotice, errorText } from '../components/notices.tsx';
import { offerUndo } from '../components/undo.ts';
import { t } from '../messages/index.ts';
import { getFollowingCardId, nextMovePosition, findCardPosition, type NavigationDirection } from './walk.ts';

/** The state of the move mode: the card as it was at the beginning, and its target position. */
export interface MoveInProgress {
  readonly card: StoryCard;
  readonly targetPosition: TargetPosition;
}

const locateCard = (lanes: readonly Lane[], cardId: string) => {
  const spot = findCardPosition(lanes, cardId);
  const lane = spot === undefined ? undefined : lanes[spot.lane];
  return spot === undefined || lane === undefined
    ? undefined
    : { spot, name: lane.column.name, at: spot.row + 1, of: lane.cards.length };
};

export function useCardMoves(board: Board) {
  const [moving, setMoving] = useState<MoveInProgress | null>(null);

  const move = useCallback(
    async (card: StoryCard, place: TargetPosition): Promise<void> => {
      const outcome = await board.move(card.id, place, card);
      const { lanes } = board.view();
      const nameOf = (columnId: string | null): string =>
        lanes.find(({ column }) => column.id === columnId)?.column.name ?? t.status.canceled;
      if (outcome.type === 'changed') {
        const now = locateCard(lanes, card.id);
        const { story } = outcome;
        if (story !== undefined && (story.columnId !== card.columnId || story.rank !== card.rank))
          offerUndo({
            ...{ key: card.key, title: t.move.changed(card.key, nameOf(story.columnId)) },
            undo: async () => {
              await board.moveBack(card, story.version);
              return undefined;
            },
          });
        if (now !== undefined) announceToScreenReader(t.move.dropped(card.key, now.name, now.at, now.of));
        const [warning] = outcome.warnings ?? [];
        if (warning !== undefined)
          showNotice({ tone: 'warn', title: t.move.warned(card.key), body: warning });
      } else if (outcome.type === 'refused') {
        showNotice({ tone: 'bad', title: t.move.refused(card.key), body: errorText(outcome.error) });
      } else {
        const { theirs } = outcome;
        showNotice({
          tone: 'warn',
          title: t.move.conflict(card.key),
          body: `${t.move.theirs(nameOf(theirs.columnId), t.priority[theirs.priority])} · ${t.move.mine(nameOf(place.columnId))}`,
          actions: [
            { name: t.move.keepTheirs, run: () => undefined, isMain: true },
            { name: t.move.moveAnyway, run: () => void move(theirs, place) },
          ],
        });
      }
    },
    [board],
  );

  const begin = (lanes: readonly Lane[], card: StoryCard): void => {
    const now = locateCard(lanes, card.id);
    if (now === undefined || card.columnId === null) return;
    const place = { columnId: card.columnId, beforeId: getFollowingCardId(lanes, now.spot, card.id) };
    board.previewMove(card.id, place);
    setMoving({ card, targetPosition: place });
    announceToScreenReader(t.move.started(card.key, now.name, now.at, now.of));
  };

  const step = (lanes: readonly Lane[], to: NavigationDirection): void => {
    if (moving === null) return;
    const from = findCardPosition(lanes, moving.card.id);
    if (from === undefined) return;
    const spot = nextMovePosition(lanes, from, to);
    const lane = lanes[spot.lane];
    if (lane === undefined) return;
    const place = { columnId: lane.column.id, beforeId: getFollowingCardId(lanes, spot, moving.card.id) };
    board.previewMove(moving.card.id, place);
    setMoving({ ...moving, targetPosition: place });
    const others = lane.cards.filter(({ id }) => id !== moving.card.id).length;
    announceToScreenReader(t.move.at(lane.column.name, spot.row + 1, others + 1));
  };

  const drop = (): void => {
    if (moving === null) return;
    setMoving(null);
    void move(moving.card, moving.targetPosition);
  };

  const giveUp = (): void => {
    if (moving === null) return;
    setMoving(null);
    board.previewMove(moving.card.id, null);
    announceToScreenReader(t.move.returned(moving.card.key));
  };

  return { moving, begin, step, drop, giveUp, move };
}
