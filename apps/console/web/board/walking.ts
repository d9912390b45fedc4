/** Tracks the focused card and moves the focus by keys. */
import { type FocusEvent, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { type StoryCard } from '@muster/contract';
import { type Lane } from '../data/lanes.ts';
import { findCardPosition, type NavigationDirection, nextCardPosition } from './walk.ts';

const cardIdOf = ({ target }: { readonly target: EventTarget }): string | undefined =>
  target instanceof HTMLElement ? target.dataset['card'] : undefined;

export function useCardFocus<CardLane extends Pick<Lane, 'cards'>>(
  lanes: readonly CardLane[],
  boardArea: RefObject<HTMLElement | null>,
  isMoving: boolean,
) {
  const [activeId, setActiveId] = useState<string | null>(null);
  /** The card that was last reached by a key; it is scrolled into view. */
  const [reachedId, setReachedId] = useState<string | null>(null);
  const wantsFocus = useRef(false);
  const at = useMemo(
    () => (activeId === null ? undefined : lanes[findCardPosition(lanes, activeId)?.lane ?? -1]),
    [lanes, activeId],
  );
  const elementOf = (id: string): HTMLElement | null =>
    boardArea.current?.querySelector<HTMLElement>(`[data-card="${id}"]`) ?? null;

  // A card that someone else moves keeps the reader's focus.
  useLayoutEffect(() => {
    if (activeId === null || !wantsFocus.current) return;
    const card = elementOf(activeId);
    if (card === null || card === document.activeElement) return;
    if (document.activeElement === document.body || isMoving) card.focus({ preventScroll: !isMoving });
  });

  const focusCard = (id: string): void => {
    wantsFocus.current = true;
    // Renders synchronously, because the next key may be pressed within the same frame and must reach the
    // newly focused card.
    flushSync(() => {
      setActiveId(id);
      setReachedId(id);
    });
    elementOf(id)?.focus();
  };
  const onFocus = (event: FocusEvent): void => {
    const id = cardIdOf(event);
    wantsFocus.current = id !== undefined;
    if (id === undefined) return;
    setActiveId(id);
    if (id !== reachedId) setReachedId(null);
  };
  /** Focuses the card that had the focus last, or the first card. */
  const walkIn = (): void => {
    const first = lanes.find(({ cards }) => cards.length > 0)?.cards[0];
    const id = at === undefined ? first?.id : activeId;
    if (id != null) focusCard(id);
  };
  const walk = (_from: HTMLElement, { id }: StoryCard, direction: NavigationDirection): void => {
    const from = findCardPosition(lanes, id);
    const next = from === undefined ? undefined : nextCardPosition(lanes, from, direction);
    const found = next === undefined ? undefined : lanes[next.lane]?.cards[next.row];
    if (found !== undefined) focusCard(found.id);
  };
  return { activeId, activeLane: at, reachedId, focusCard, onFocus, walk, walkIn };
}
