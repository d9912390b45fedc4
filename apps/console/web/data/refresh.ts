import { type QueryClient } from '@tanstack/react-query';
import { type Key } from './stale.ts';

/**
 * Reads anew what stands under a key. A first read that is under way may be older than what is heard, and the cache takes no
 * second one beside it: so it is waited for.
 */
export async function refresh(queries: QueryClient, queryKey: Key): Promise<void> {
  const firstReads = queries
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching', predicate: ({ state }) => state.data === undefined });
  await Promise.allSettled(firstReads.map((query) => query.fetch()));
  await queries.invalidateQueries({ queryKey });
}
