/**
 * Implements dragging by pointer. The drop position is read from the cards on the page, since a column
 * renders no others.
 */
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { type TargetPosition } from '../data/lanes.ts';
import { importWithRetry } from '../components/lazily.ts';

const isString = (value: unknown): value is string => typeof value === 'string';

export function useDraggable(
  element: RefObject<HTMLElement | null>,
  cardId: string,
  isDisabled: boolean,
): void {
  useEffect(() => {
    const place = element.current;
    if (place === null || isDisabled) return undefined;
    return draggable({
      element: place,
      getInitialData: () => ({ cardId }),
      onDragStart: () => (place.dataset['dragging'] = ''),
      onDrop: () => delete place.dataset['dragging'],
    });
  }, [element, cardId, isDisabled]);
}

/**
 * Scrolls the element while a card is dragged near its edge. The code is loaded after the board has rendered.
 * Returns the function that stops it.
 */
function scrollAtEdges(element: HTMLElement): () => void {
  let end: (() => void) | undefined;
  let isOver = false;
  importWithRetry(() => import('@atlaskit/pragmatic-drag-and-drop-auto-scroll/element')).then(
    ({ autoScrollForElements }) => {
      if (!isOver) end = autoScrollForElements({ element });
    },
    () => undefined,
  );
  return () => {
    isOver = true;
    end?.();
  };
}

/** Returns the first card whose middle is below the pointer; null if there is none. */
function findCardBelowPointer(list: HTMLElement, clientY: number, draggedCardId: string): string | null {
  for (const card of list.querySelectorAll<HTMLElement>('[data-card]')) {
    const { top, height } = card.getBoundingClientRect();
    const id = card.dataset['card'];
    if (id !== undefined && id !== draggedCardId && clientY < top + height / 2) return id;
  }
  return null;
}

/** Makes a column a drop target for cards. `next` returns the id of the card that follows the last rendered one. */
export function useDropColumn(
  column: RefObject<HTMLElement | null>,
  scroller: RefObject<HTMLElement | null>,
  columnId: string,
  getNextCardId: () => string | null,
): void {
  const latest = useRef(getNextCardId);
  latest.current = getNextCardId;
  useEffect(() => {
    const [element, list] = [column.current, scroller.current];
    if (element === null || list === null) return undefined;
    const endDrop = dropTargetForElements({
      element,
      getData: ({ input, source }) => {
        const { cardId } = source.data;
        const below = findCardBelowPointer(list, input.clientY, isString(cardId) ? cardId : '');
        return { columnId, beforeId: below ?? latest.current() };
      },
    });
    const endScroll = scrollAtEdges(list);
    return () => {
      endDrop();
      endScroll();
    };
  }, [column, scroller, columnId]);
}

/** Returns the position where the currently dragged card would go, and calls `drop` when it is released. */
export function useDropPosition(
  board: RefObject<HTMLElement | null>,
  onDropCard: (cardId: string, place: TargetPosition) => void,
) {
  const [over, setOver] = useState<TargetPosition | null>(null);
  const latest = useRef(onDropCard);
  latest.current = onDropCard;
  useEffect(() => {
    const placeIn = (
      targets: readonly { readonly data: Record<string | symbol, unknown> }[],
    ): TargetPosition | null => {
      const { columnId, beforeId } = targets[0]?.data ?? {};
      return isString(columnId) ? { columnId, beforeId: isString(beforeId) ? beforeId : null } : null;
    };
    const look = (targets: Parameters<typeof placeIn>[0]): void => {
      const place = placeIn(targets);
      setOver((last) =>
        last?.columnId === place?.columnId && last?.beforeId === place?.beforeId ? last : place,
      );
    };
    const endMonitor = monitorForElements({
      onDrag: ({ location }) => look(location.current.dropTargets),
      onDropTargetChange: ({ location }) => look(location.current.dropTargets),
      onDrop: ({ source, location }) => {
        setOver(null);
        const place = placeIn(location.current.dropTargets);
        const { cardId } = source.data;
        if (place !== null && isString(cardId)) latest.current(cardId, place);
      },
    });
    const endScroll = board.current === null ? undefined : scrollAtEdges(board.current);
    return () => {
      endMonitor();
      endScroll?.();
    };
  }, [board]);
  return over;
}
