/** A board with a column for each group. A card that is dragged to another column gets the value of that group. */
import { useMemo, useRef } from 'react';
import { type StoryCard } from '@muster/contract';
import { Column, type ColumnLane } from '../board/column.tsx';
import { useDropPosition } from '../board/drag.ts';
import { applyBulkChange } from '../board/each.ts';
import { useCardMoves } from '../board/moving.ts';
import { useCardFocus } from '../board/walking.ts';
import { type BoardSearch } from '../board/filter.ts';
import { usePageShortcuts } from '../components/keys.ts';
import { type Board, type BoardView } from '../data/boards.ts';
import { type ArrangedStories } from './arranged.ts';
import { type Arrangement } from './arrangement.ts';
import { createGroupChange } from './group-change.ts';
import { useStoryActions } from './story-actions.tsx';

interface GroupBoardProps {
  readonly board: Board;
  readonly view: BoardView;
  readonly search: BoardSearch;
  readonly arrangement: Arrangement;
  readonly arranged: ArrangedStories;
  readonly canWrite: (card: StoryCard) => boolean;
}

export default function GroupBoard({ board, view, arrangement, arranged, canWrite }: GroupBoardProps) {
  const { grouping } = arrangement;
  const { groups, epics } = arranged;
  const area = useRef<HTMLDivElement>(null);
  const { projectId } = board;
  const lanes = useMemo(
    () =>
      groups.map(({ id, name, cards }): ColumnLane => {
        const status = grouping === 'status' ? (cards[0]?.status ?? null) : null;
        return { column: { id: `${projectId} ${grouping} ${id}`, name, wipLimit: null, status }, cards };
      }),
    [groups, grouping, projectId],
  );
  const { activeId, activeLane, reachedId, focusCard, walk, walkIn, onFocus } = useCardFocus(
    lanes,
    area,
    false,
  );
  const { selectedIds, ...actions } = useStoryActions({
    ...{ board, view, canWrite, moves: useCardMoves(board), focusCard, walk, getFocusedId: () => activeId },
    getCards: () => lanes.flatMap(({ cards }) => cards),
    getArea: () => area.current,
  });
  const dropPosition = useDropPosition(area, (cardId, { columnId }) => {
    const card = board.card(cardId);
    const group = groups[lanes.findIndex(({ column }) => column.id === columnId)];
    if (card === undefined || group === undefined || group.cards.some(({ id }) => id === cardId)) return;
    const change = createGroupChange(grouping, group);
    if (change !== undefined) void applyBulkChange(board, [card], change, () => undefined);
  });
  usePageShortcuts({ ArrowDown: walkIn, ArrowRight: walkIn, j: walkIn, l: walkIn });
  const isDroppable = groups.every((group) => createGroupChange(grouping, group) !== undefined);
  return (
    <>
      {actions.toolbar}
      {/* The cards inside this element are focusable and react to keys. */}
      <div
        ref={area}
        className="board"
        onKeyDown={actions.onKeyDown}
        onFocus={onFocus}
        onContextMenu={actions.onContextMenu}
      >
        {lanes.map((lane) => (
          <Column
            key={lane.column.id}
            {...{ lane, selectedIds, menuItemsOf: actions.menuItemsOf, epicsById: epics }}
            areAllCardsLoaded={view.areAllCardsLoaded}
            canWrite={isDroppable && lane.cards.some(canWrite)}
            totalCards={lane.cards.length}
            isFiltered={false}
            activeId={lane === activeLane ? activeId : null}
            reachedId={lane === activeLane ? reachedId : null}
            movingId={null}
            recentlyChangedIds={view.fresh}
            dropPosition={isDroppable && dropPosition?.columnId === lane.column.id ? dropPosition : null}
            isQuickAddOpen={false}
            onQuickAddChange={undefined}
            onAdd={undefined}
          />
        ))}
      </div>
      {actions.menus}
    </>
  );
}
