/** Queries of attachments. Their download addresses are valid for five minutes, so they are polled. */
import { type Client } from '@muster/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';

const addressLifetimeMs = 4 * 60_000;

/** Fetches the attachments of a story, of its comments, and of its executions, newest first. */
export const storyFilesQuery = (client: Client, storyKey: string) =>
  infiniteQueryOptions({
    queryKey: ['story', storyKey, 'files'],
    queryFn: ({ pageParam }) =>
      client.attachments.list({
        ...{ targetType: 'story', targetId: storyKey, includeParts: true, limit: 100 },
        ...(pageParam !== null && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: addressLifetimeMs,
  });

export const fileQuery = (client: Client, attachmentId: string) =>
  queryOptions({
    queryKey: ['file', attachmentId],
    queryFn: async () => (await client.attachments.get({ attachmentId })).attachment,
    staleTime: addressLifetimeMs,
    refetchInterval: addressLifetimeMs,
  });

export const storyKeyQuery = (client: Client, storyId: string) =>
  queryOptions({
    queryKey: ['story', storyId, 'key'],
    queryFn: async () => (await client.stories.get({ storyId })).story.key,
  });
