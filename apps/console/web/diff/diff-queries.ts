/** Queries of the changed files of work. */
import { type Client } from '@muster/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';

/** The polling interval while a job reads the changes from the forge. */
const pendingPollMs = 3_000;

export type ChangesTarget = { readonly storyId: string } | { readonly executionId: string };

const keyOf = (target: ChangesTarget): readonly string[] =>
  'storyId' in target ? ['story', target.storyId, 'changes'] : ['changes', target.executionId];

export const changesQuery = (client: Client, target: ChangesTarget) =>
  infiniteQueryOptions({
    queryKey: keyOf(target),
    queryFn: ({ pageParam }) =>
      client.changes.diff({ ...target, limit: 100, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.changes.state === 'pending' ? pendingPollMs : false,
  });

export const patchQuery = (client: Client, target: ChangesTarget, headSha: string, path: string) =>
  queryOptions({
    queryKey: [...keyOf(target), headSha, path],
    queryFn: async () => (await client.changes.diff({ ...target, headSha, path })).patch,
    // The changes of a head never change, so events about the story do not refetch them.
    staleTime: 'static',
  });
