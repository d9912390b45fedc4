/** Keeps buckets of this process only, for use while Redis is unavailable. */
import { fullAtAfterRefund, monotonicMillis, type Quota, quotaOf, fullAtAfterTaking } from './rate.ts';
import { type Cost, type BucketStore } from './store.ts';

/** The maximum number of buckets, some 20 MB. Beyond it the least recently used bucket is evicted. */
const maxBuckets = 100_000;

export function createMemoryStore(): BucketStore {
  const fullAt = new Map<string, number>();

  const set = (key: string, value: number, now: number): void => {
    // Deleting and inserting the key makes it the newest of the map.
    fullAt.delete(key);
    if (value > now) fullAt.set(key, value);
    if (fullAt.size <= maxBuckets) return;
    const [oldest] = fullAt.keys();
    if (oldest !== undefined) fullAt.delete(oldest);
  };

  return {
    take: async (costs, optional): Promise<readonly Quota[]> => {
      const now = monotonicMillis();
      const before = costs.map(({ key, rate }) => quotaOf(rate, fullAt.get(key) ?? 0, now));
      const isEmpty = before.some(({ remainingTokens: left }, index) => left < 1 && index !== optional);
      if (isEmpty) return before;
      return costs.map(({ key, rate }, index) => {
        const quota = before[index];
        // Only the optional bucket can be empty here; it stays unchanged.
        if (quota !== undefined && quota.remainingTokens < 1) return quota;
        const next = fullAtAfterTaking(rate, fullAt.get(key) ?? 0, now);
        set(key, next, now);
        return { ...quotaOf(rate, next, now), waitMillis: 0 };
      });
    },
    refund: async (costs: readonly Cost[]) => {
      const now = monotonicMillis();
      for (const { key, rate } of costs) {
        const until = fullAt.get(key);
        if (until !== undefined) set(key, fullAtAfterRefund(rate, until), now);
      }
    },
  };
}
