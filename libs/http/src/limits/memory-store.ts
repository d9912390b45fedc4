/** Keeps buckets of this process only, for use while Redis is unavailable. */
import { givenBack, millisNow, type Quota, quotaOf, taken } from './rate.ts';
import { type Cost, type Store } from './store.ts';

/** The maximum number of buckets, some 20 MB. Beyond it the least recently used bucket is evicted. */
const mostBuckets = 100_000;

export function createMemoryStore(): Store {
  const fullAt = new Map<string, number>();

  const set = (key: string, value: number, now: number): void => {
    // Deleting and inserting the key makes it the newest of the map.
    fullAt.delete(key);
    if (value > now) fullAt.set(key, value);
    if (fullAt.size <= mostBuckets) return;
    const [oldest] = fullAt.keys();
    if (oldest !== undefined) fullAt.delete(oldest);
  };

  return {
    take: async (costs, optional): Promise<readonly Quota[]> => {
      const now = millisNow();
      const before = costs.map(({ key, rate }) => quotaOf(rate, fullAt.get(key) ?? 0, now));
      const isEmpty = before.some(({ left }, index) => left < 1 && index !== optional);
      if (isEmpty) return before;
      return costs.map(({ key, rate }, index) => {
        const quota = before[index];
        // Only the optional bucket can be empty here; it stays unchanged.
        if (quota !== undefined && quota.left < 1) return quota;
        const next = taken(rate, fullAt.get(key) ?? 0, now);
        set(key, next, now);
        return { ...quotaOf(rate, next, now), waitMillis: 0 };
      });
    },
    giveBack: async (costs: readonly Cost[]) => {
      const now = millisNow();
      for (const { key, rate } of costs) {
        const until = fullAt.get(key);
        if (until !== undefined) set(key, givenBack(rate, until), now);
      }
    },
  };
}
