/** Returns the columns with the cards that match the filters. */
import { type RefObject, useDeferredValue, useLayoutEffect, useMemo, useRef } from 'react';
import { type Lane } from '../data/lanes.ts';
import { type BoardSearch, matchesFilter, isFiltered } from './filter.ts';

export function useFilteredLanes(
  all: readonly Lane[],
  search: BoardSearch,
  area: RefObject<HTMLElement | null>,
): { readonly lanes: readonly Lane[]; readonly filtered: boolean } {
  // Typing has priority over filtering.
  const filter = useDeferredValue(search);
  const filtered = isFiltered(filter);
  const lanes = useMemo(
    () =>
      filtered
        ? all.map(({ column, cards }) => ({
            column,
            cards: cards.filter((card) => matchesFilter(card, filter)),
          }))
        : all,
    [all, filter, filtered],
  );
  // Scrolls all columns to the top when the filter changes.
  const shown = useRef(filter);
  useLayoutEffect(() => {
    if (shown.current === filter) return;
    shown.current = filter;
    for (const column of area.current?.querySelectorAll('.column-scroll') ?? []) {
      column.scrollTop = 0;
      // The browser would send its scroll event only after the cards are measured, and the virtualizer would
      // use the old offset until then.
      column.dispatchEvent(new Event('scroll'));
    }
  }, [area, filter]);
  return { lanes, filtered };
}
