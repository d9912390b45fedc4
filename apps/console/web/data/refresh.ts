import { type QueryClient } from '@tanstack/react-query';
import { awaitFirstFetches } from './queries.ts';
import { type CacheKey } from './stale.ts';

/** Events within this window are answered by one request for each query. */
const batchWindowMs = 100;

/** Returns a function that refetches queries under a key soon. A plan that is applied emits an event for each story. */
export function createBatchedRefetch(queries: QueryClient): (queryKey: CacheKey) => void {
  const pending = new Map<string, CacheKey>();
  return (queryKey) => {
    if (pending.size === 0)
      setTimeout(() => {
        const keys = [...pending.values()];
        pending.clear();
        for (const key of keys) void refetchQueries(queries, key);
      }, batchWindowMs);
    pending.set(JSON.stringify(queryKey), queryKey);
  };
}

/**
 * Refetches queries under a key. The cache does not restart a first fetch that is in progress, although its
 * response may be outdated. So that fetch is awaited first.
 */
export async function refetchQueries(queries: QueryClient, queryKey: CacheKey): Promise<void> {
  await awaitFirstFetches(queries, queryKey);
  await queries.invalidateQueries({ queryKey });
}
