/** Buckets of this process alone: what is left when Redis is away. */
import { givenBack, type Level, levelOf, taken } from './rate.ts';
import { type Draw, type Store } from './store.ts';

/** Some 20 MB. Beyond it the buckets that were used longest ago are forgotten. */
const mostBuckets = 100_000;

export function createMemoryStore(clock: () => number = Date.now): Store {
  const fullAt = new Map<string, number>();

  const set = (key: string, value: number, now: number): void => {
    // Taken out and put in again, it is the youngest of the map.
    fullAt.delete(key);
    if (value > now) fullAt.set(key, value);
    if (fullAt.size <= mostBuckets) return;
    const [oldest] = fullAt.keys();
    if (oldest !== undefined) fullAt.delete(oldest);
  };

  return {
    take: async (draws, optional): Promise<readonly Level[]> => {
      const now = clock();
      const before = draws.map(({ key, rate }) => levelOf(rate, fullAt.get(key) ?? 0, now));
      const isEmpty = before.some(({ left }, index) => left < 1 && index !== optional);
      if (isEmpty) return before;
      return draws.map(({ key, rate }, index) => {
        const level = before[index];
        // Only the optional one can be empty here; it stays as it is.
        if (level !== undefined && level.left < 1) return level;
        const next = taken(rate, fullAt.get(key) ?? 0, now);
        set(key, next, now);
        return { ...levelOf(rate, next, now), waitMillis: 0 };
      });
    },
    giveBack: async (draws: readonly Draw[]) => {
      const now = clock();
      for (const { key, rate } of draws) {
        const until = fullAt.get(key);
        if (until !== undefined) set(key, givenBack(rate, until), now);
      }
    },
  };
}
