/** Returns the columns with the cards that match the filters. */
import { type RefObject, useDeferredValue, useLayoutEffect, useMemo, useRef } from 'react';
import { useIdentity } from '../data/context.ts';
import { type Lane } from '../data/lanes.ts';
import { type BoardSearch, matchesFilter, hasActiveFilters } from './filter.ts';

export function useFilteredLanes(
  allLanes: readonly Lane[],
  search: BoardSearch,
  boardArea: RefObject<HTMLElement | null>,
): { readonly lanes: readonly Lane[]; readonly filtered: boolean } {
  // Typing has priority over filtering.
  const filter = useDeferredValue(search);
  const filtered = hasActiveFilters(filter);
  const viewerId = useIdentity().member.id;
  const lanes = useMemo(
    () =>
      filtered
        ? allLanes.map(({ column, cards }) => ({
            column,
            cards: cards.filter((card) => matchesFilter(card, filter, viewerId)),
          }))
        : allLanes,
    [allLanes, filter, filtered, viewerId],
  );
  // Scrolls all columns to the top when the filter changes.
  const shown = useRef(filter);
  useLayoutEffect(() => {
    if (shown.current === filter) return;
    shown.current = filter;
    for (const column of boardArea.current?.querySelectorAll('.column-scroll') ?? []) {
      column.scrollTop = 0;
      // The browser would send its scroll event only after the cards are measured, and the virtualizer would
      // use the old offset until then.
      column.dispatchEvent(new Event('scroll'));
    }
  }, [boardArea, filter]);
  return { lanes, filtered };
}
