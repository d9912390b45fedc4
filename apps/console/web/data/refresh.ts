import { type QueryClient } from '@tanstack/react-query';
import { type CacheKey } from './stale.ts';

/**
 * Refetches queries under a key. The cache does not restart a first fetch that is in progress, although its
 * response may be outdated. So that fetch is awaited first.
 */
export async function refetchQueries(queries: QueryClient, queryKey: CacheKey): Promise<void> {
  const firstReads = queries
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching', predicate: ({ state }) => state.data === undefined });
  await Promise.allSettled(firstReads.map((query) => query.fetch()));
  await queries.invalidateQueries({ queryKey });
}
