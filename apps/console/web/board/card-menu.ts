import { useNavigate } from '@tanstack/react-router';
import { type StoryCard } from '@muster/contract';
import { type Lane, type TargetPosition } from '../data/lanes.ts';
import { type ChooserField } from '../components/choosing.ts';
import { type MenuItem } from '../components/menu.tsx';
import { useStableCallback } from '../components/steady.ts';
import { t } from '../messages/index.ts';

interface CardMenuActions {
  readonly move: (card: StoryCard, place: TargetPosition) => Promise<void>;
  readonly openChooser: (what: ChooserField, card: StoryCard) => void;
  readonly toggleSelection: (id: string) => void;
  readonly isSelected: (id: string) => boolean;
}

/**
 * Returns the menu of a card, with everything that dragging and keys can do. Without `lanes`, it offers the status
 * instead of moves.
 */
export function useCardMenuItems(
  lanes: readonly Lane[],
  canWrite: (card: StoryCard) => boolean,
  actions: CardMenuActions,
) {
  const { move, openChooser, toggleSelection, isSelected } = actions;
  const navigate = useNavigate();
  return useStableCallback((card: StoryCard): MenuItem[] => {
    const lane = lanes.find(({ column }) => column.id === card.columnId);
    const to = (place: TargetPosition) => () => void move(card, place);
    const columnId = card.columnId ?? '';
    const open = {
      ...{ id: 'open', name: t.board.open },
      run: () => void navigate({ to: '/s/$storyKey', params: { storyKey: card.key } }),
    };
    const { execution } = card;
    const openRun =
      execution === null || execution.holder === null
        ? []
        : [
            {
              ...{ id: 'open-run', name: t.board.openRun },
              run: () => void navigate({ to: '/runs/$runId', params: { runId: execution.id } }),
            },
          ];
    if (!canWrite(card)) return [open, ...openRun];
    const first = lane?.cards.find(({ id }) => id !== card.id)?.id ?? null;
    const moves = [
      { id: 'top', name: t.board.moveTop, run: to({ columnId, beforeId: first }) },
      { id: 'bottom', name: t.board.moveBottom, run: to({ columnId, beforeId: null }) },
      ...lanes
        .filter(({ column }) => column.id !== columnId)
        .map(({ column }) => ({
          ...{ id: column.id, name: t.board.moveTo(column.name) },
          run: to({ columnId: column.id, beforeId: null }),
        })),
    ];
    const choosers = ['assignee', 'priority', 'reviewer'] as const;
    return [
      open,
      ...openRun,
      {
        ...{ id: 'select', name: isSelected(card.id) ? t.select.not : t.select.one },
        run: () => toggleSelection(card.id),
      },
      ...(lane === undefined ? (['status', ...choosers] as const) : choosers).map((what) => ({
        ...{ id: what, name: t.choose[what] },
        run: () => openChooser(what, card),
      })),
      ...(lane === undefined ? [] : moves),
    ];
  });
}
