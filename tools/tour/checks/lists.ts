import { type StorySummary } from '@muster/registry';
import { type Check } from '../check.ts';

type ListedStory = Pick<StorySummary, 'id' | 'key'>;

/** A list that was read to its end while others wrote. */
export interface Reading {
  readonly sort: 'board' | 'updated' | 'created';
  readonly limit: number;
  /** What was there before anybody wrote. */
  readonly start: readonly ListedStory[];
  readonly items: readonly ListedStory[];
  readonly touched: ReadonlySet<unknown>;
}

/**
 * Each story that was there at the start and that nobody touched stands in the list once; by creation, where a change
 * moves nothing, each that was there. By change, one that was touched comes to the front, and never twice. Answers
 * how many must stand there once.
 */
export function judgeList(found: Check, { sort, limit, start, items, touched }: Reading): number {
  const seen = new Map<string, number>();
  for (const { id } of items) seen.set(id, (seen.get(id) ?? 0) + 1);
  const steady = start.filter(({ id }) => sort === 'created' || !touched.has(id));
  const list = `the list by ${sort}, ${limit} a page`;
  for (const { id, key } of steady) {
    const times = seen.get(id) ?? 0;
    found.that(times === 1, () => `${key} stands ${times} times in ${list}`);
  }
  if (sort === 'board') return steady.length;
  for (const [id, times] of seen) found.that(times === 1, () => `${id} stands ${times} times in ${list}`);
  return steady.length;
}
