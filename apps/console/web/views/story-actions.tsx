/** Keys, menus and selection of the stories of a board or view. All layouts share them. */
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { type CardKeyActions, handleCardKey } from '../board/card-keys.ts';
import { useCardMenuItems } from '../board/card-menu.ts';
import { useCardChooser } from '../board/choosing.tsx';
import { storyCommands } from '../board/commands.ts';
import { useContextMenu } from '../board/context-menu.tsx';
import { lazyComponent } from '../components/lazily.ts';
import { announceToScreenReader } from '../components/notices.tsx';
import { type Board, type BoardView } from '../data/boards.ts';
import { type Lane } from '../data/lanes.ts';
import { useCommands } from '../components/commands.ts';
import { t } from '../messages/index.ts';

const SelectionBar = lazyComponent(() => import('../board/selection-bar.tsx'));

/** The selected stories. Shift selects all from the last selected one on. */
function useSelection(getCards: () => readonly StoryCard[], canWrite: (card: StoryCard) => boolean) {
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string>>(new Set());
  const lastId = useRef<string>(undefined);
  const select = (id: string, ids: ReadonlySet<string>): void => {
    lastId.current = id;
    setSelectedIds(ids);
    announceToScreenReader(t.select.count(ids.size));
  };
  const toggle = (id: string): void => {
    const next = new Set(selectedIds);
    if (!next.delete(id)) next.add(id);
    select(id, next);
  };
  const toggleRange = ({ id }: StoryCard, isRange: boolean): void => {
    const cards = getCards();
    const from = cards.findIndex((card) => card.id === lastId.current);
    const to = cards.findIndex((card) => card.id === id);
    if (!isRange || from < 0 || to < 0) {
      toggle(id);
      return;
    }
    const range = cards.slice(Math.min(from, to), Math.max(from, to) + 1).filter(canWrite);
    select(id, new Set([...selectedIds, ...range.map((card) => card.id)]));
  };
  return { selectedIds, setSelectedIds, toggle, toggleRange };
}

interface StoryActionOptions extends Pick<CardKeyActions, 'canWrite' | 'moves' | 'walk'> {
  readonly board: Board;
  readonly view: BoardView;
  /** The columns in which keys and menus move the cards. Without them, menus change the status. */
  readonly lanes?: readonly Lane[];
  /** Returns the stories in the order in which they are shown. */
  readonly getCards: () => readonly StoryCard[];
  readonly focusCard: (id: string) => void;
  /** Returns the id of the story that had the focus last. */
  readonly getFocusedId: () => string | null | undefined;
  readonly getArea: () => HTMLElement | null;
}

export function useStoryActions(options: StoryActionOptions) {
  const { board, view, lanes, canWrite, moves, getCards, focusCard, getFocusedId, walk, getArea } = options;
  const selection = useSelection(getCards, canWrite);
  const { selectedIds, setSelectedIds, toggle } = selection;
  const { move } = moves;
  const menu = useCardChooser({
    ...{ board, lanes: view.lanes, selectedIds, move, focusCard, setSelected: setSelectedIds },
  });
  const menuItemsOf = useCardMenuItems(lanes === undefined ? [] : view.lanes, canWrite, {
    ...{ move, openChooser: menu.choose, toggleSelection: toggle, isSelected: (id) => selectedIds.has(id) },
  });
  const onKeyDown = (event: KeyboardEvent): void =>
    handleCardKey(event, board.card, {
      ...{ canWrite, moves, lanes, walk, toggleSelection: toggle, openChooser: menu.choose },
      clearSelection: selectedIds.size > 0 ? () => setSelectedIds(new Set()) : undefined,
      closeLoadingMenu: menu.isChoosing ? menu.giveUp : undefined,
    });
  const contextMenu = useContextMenu({ board, menuItemsOf, focusCard, getArea });
  useCommands(() => {
    const card = board.card(getFocusedId() ?? '');
    return storyCommands(card, card !== undefined && canWrite(card), menu.choose);
  });
  const toolbar: ReactNode = selectedIds.size > 0 && (
    <SelectionBar board={board} lanes={view.lanes} selectedIds={selectedIds} onSelect={setSelectedIds} />
  );
  const menus: ReactNode = (
    <>
      {contextMenu.menu}
      {menu.chooser(getArea)}
    </>
  );
  return {
    ...selection,
    choose: menu.choose,
    menuItemsOf,
    onKeyDown,
    onContextMenu: contextMenu.onContextMenu,
    toolbar,
    menus,
  };
}
