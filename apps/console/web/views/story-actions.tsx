/** Keys, menus and selection of the stories of a view. All layouts share them. */
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { type StoryCard } from '@muster/registry';
import { useCardMenuItems } from '../board/card-menu.ts';
import { useCardChooser } from '../board/choosing.tsx';
import { storyCommands } from '../board/commands.ts';
import { useContextMenu } from '../board/context-menu.tsx';
import { useCardMoves } from '../board/moving.ts';
import { directionForKey, type NavigationDirection } from '../board/walk.ts';
import { chooserFieldOf } from '../components/choosing.ts';
import { isSingleKeyShortcut } from '../components/keys.ts';
import { lazyComponent } from '../components/lazily.ts';
import { announceToScreenReader } from '../components/notices.tsx';
import { type Board, type BoardView } from '../data/boards.ts';
import { useCommands } from '../components/commands.ts';
import { t } from '../messages/index.ts';

const SelectionBar = lazyComponent(() => import('../board/selection-bar.tsx'));

/** The selected stories. Shift selects all from the last selected one on. */
function useSelection(getCards: () => readonly StoryCard[]) {
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
    const range = cards.slice(Math.min(from, to), Math.max(from, to) + 1);
    select(id, new Set([...selectedIds, ...range.map((card) => card.id)]));
  };
  return { selectedIds, setSelectedIds, toggle, toggleRange };
}

interface StoryActionOptions {
  readonly board: Board;
  readonly view: BoardView;
  readonly canWrite: (card: StoryCard) => boolean;
  /** Returns the stories in the order in which they are shown. */
  readonly getCards: () => readonly StoryCard[];
  readonly focusCard: (id: string) => void;
  /** Returns the id of the story that had the focus last. */
  readonly getFocusedId: () => string | null | undefined;
  /** Moves the focus from this element. */
  readonly walk: (from: HTMLElement, card: StoryCard, direction: NavigationDirection) => void;
  readonly getArea: () => HTMLElement | null;
}

export function useStoryActions(options: StoryActionOptions) {
  const { board, view, canWrite, getCards, focusCard, getFocusedId, walk, getArea } = options;
  const selection = useSelection(getCards);
  const { selectedIds, setSelectedIds, toggle } = selection;
  const { move } = useCardMoves(board);
  const menu = useCardChooser({
    ...{ board, lanes: view.lanes, selectedIds, move, focusCard, setSelected: setSelectedIds },
  });
  const menuItemsOf = useCardMenuItems([], canWrite, {
    ...{ move, openChooser: menu.choose, toggleSelection: toggle, isSelected: (id) => selectedIds.has(id) },
  });

  const actOnKey = (target: HTMLElement, card: StoryCard, key: string): boolean => {
    const choice = chooserFieldOf(key);
    const direction = directionForKey(key);
    if (direction !== undefined) walk(target, card, direction);
    else if (key === 'x' && canWrite(card)) toggle(card.id);
    else if (choice !== undefined && canWrite(card)) menu.choose(choice, card);
    else if (key === 'Escape' && selectedIds.size > 0) setSelectedIds(new Set());
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { target } = event;
    if (!(target instanceof HTMLElement) || !isSingleKeyShortcut(event)) return;
    const card = board.card(target.dataset['card'] ?? '');
    if (card === undefined) return;
    if (menu.isChoosing) {
      // Keys that are typed while a menu loads are meant for the menu.
      if (event.key === 'Escape') menu.giveUp();
    } else if (!actOnKey(target, card, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
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
