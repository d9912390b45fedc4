/** Queries about plans and waves. Every change of a story of the project makes them outdated. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type StorySummary } from '@muster/contract';

export const plansQuery = (client: Client, projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['plans', projectId, 'list'],
    queryFn: ({ pageParam }) =>
      client.plans.list({ projectId, limit: 100, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });

export const planQuery = (client: Client, projectId: string, planId: string) =>
  queryOptions({
    queryKey: ['plans', projectId, 'plan', planId],
    queryFn: () => client.plans.get({ planId }),
  });

/** The maximum number of story ids in one call. */
const maxStoryIds = 200;
/** The maximum number of stories that are drawn. */
const maxDrawnStories = 400;

/** Fetches stories without their descriptions, by id. Stories that do not exist are left out. */
export async function fetchStoriesById(
  { stories }: Client,
  projectId: string,
  storyIds: readonly string[],
): Promise<ReadonlyMap<string, StorySummary>> {
  const ids = [...new Set(storyIds)];
  const batches = Array.from({ length: Math.ceil(ids.length / maxStoryIds) }, (_, batch) =>
    ids.slice(batch * maxStoryIds, (batch + 1) * maxStoryIds),
  );
  const pages = await Promise.all(
    batches.map((batch) => stories.list({ projectId, storyIds: batch, limit: maxStoryIds, view: 'summary' })),
  );
  return new Map(pages.flatMap(({ items }) => items.map((story) => [story.id, story])));
}

/** The part of a project whose waves are shown. */
export interface WavesScope {
  readonly planId?: string;
  readonly epicId?: string;
}

/** Fetches the waves with the stories that each of their stories waits for. */
export const wavesQuery = (client: Client, projectId: string, scope: WavesScope) =>
  queryOptions({
    queryKey: ['plans', projectId, 'waves', scope],
    queryFn: async () => {
      const result = await client.projects.waves({ projectId, ...scope, limit: maxDrawnStories });
      const cards = result.waves.flatMap(({ stories }) => stories);
      const summaries = await fetchStoriesById(
        client,
        projectId,
        cards.map(({ id }) => id),
      );
      return { ...result, summaries };
    },
  });

/**
 * Fetches the conflicts between open stories. It is polled for conflicts with locks and files of work, because
 * otherwise each event about any work would have to refetch it.
 */
export const conflictsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['related', projectId, 'conflicts'],
    queryFn: () => client.projects.conflicts({ projectId }),
    refetchInterval: 30_000,
  });
