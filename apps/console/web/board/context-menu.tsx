/** The menu of a card, opened by a right click on it. Shift keeps the browser's own menu. */
import { type MouseEvent, useState } from 'react';
import { type StoryCard } from '@muster/contract';
import { type Board } from '../data/boards.ts';
import { MenuList, type MenuItem } from '../components/menu.tsx';
import { t } from '../messages/index.ts';

interface ContextMenuOptions {
  readonly board: Board;
  readonly menuItemsOf: (card: StoryCard) => readonly MenuItem[];
  readonly focusCard: (id: string) => void;
  readonly getArea: () => HTMLElement | null;
}

export function useContextMenu({ board, menuItemsOf, focusCard, getArea }: ContextMenuOptions) {
  const [open, setOpen] = useState<{
    readonly card: StoryCard;
    readonly pointer: { readonly x: number; readonly y: number };
  } | null>(null);
  const onContextMenu = (event: MouseEvent): void => {
    const place = event.target instanceof Element ? event.target.closest('.story-row, .card-place') : null;
    const element = place?.querySelector<HTMLElement>('[data-card]');
    const card = board.card(element?.dataset['card'] ?? '');
    if (card === undefined || event.shiftKey) return;
    event.preventDefault();
    element?.focus();
    setOpen({ card, pointer: { x: event.clientX, y: event.clientY } });
  };
  const menu = open !== null && (
    <MenuList
      label={t.board.cardMenu(open.card.key)}
      items={menuItemsOf(open.card)}
      anchor={getArea}
      pointer={open.pointer}
      onClose={(isBack) => {
        setOpen(null);
        if (isBack) focusCard(open.card.id);
      }}
    />
  );
  return { onContextMenu, menu };
}
