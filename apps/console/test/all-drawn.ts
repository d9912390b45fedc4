/** Replaces the list virtualizer, which renders only items in view, by one that renders all items. */

interface Options {
  readonly count: number;
  readonly estimateSize: (index: number) => number;
  readonly getItemKey: (index: number) => string | number;
  readonly gap: number;
}

export const defaultRangeExtractor = (): readonly number[] => [];
const measureElement = (): void => undefined;

export function useVirtualizer({ count, estimateSize, getItemKey, gap }: Options) {
  const items = Array.from({ length: count }, (_, index) => {
    const size = estimateSize(index);
    const start = index * (size + gap);
    return { index, key: getItemKey(index), start, end: start + size };
  });
  return {
    ...{ measureElement, measurementsCache: items },
    getVirtualItems: () => items,
    getTotalSize: () => items.at(-1)?.end ?? 0,
  };
}
