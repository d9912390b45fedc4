/** Queries of attachments. Their download addresses are valid for five minutes, so they are polled. */
import { type Client } from '@muster/client';
import { type Attachment } from '@muster/contract';
import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import { awaitFirstFetches } from '../data/queries.ts';

const addressLifetimeMs = 4 * 60_000;

const fileKey = (attachmentId: string) => ['file', attachmentId];

/**
 * Fetches the attachments of a story, of its comments, and of its executions, newest first. Each becomes the result of
 * its own query, too.
 */
export const storyFilesQuery = (client: Client, storyKey: string) =>
  infiniteQueryOptions({
    queryKey: ['story', storyKey, 'files'],
    queryFn: async ({ pageParam, client: queries }) => {
      const page = await client.attachments.list({
        ...{ targetType: 'story', targetId: storyKey, includeParts: true, limit: 100 },
        ...(pageParam !== null && { cursor: pageParam }),
      });
      for (const file of page.items) queries.setQueryData(fileKey(file.id), file);
      return page;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: addressLifetimeMs,
  });

export const fileQuery = (client: Client, attachmentId: string) =>
  queryOptions({
    queryKey: fileKey(attachmentId),
    queryFn: async () => (await client.attachments.get({ attachmentId })).attachment,
    staleTime: addressLifetimeMs,
    refetchInterval: addressLifetimeMs,
  });

/** Fetches an attachment, unless the files of a story are just being fetched, and it is one of them. */
export async function loadFile(
  queries: QueryClient,
  client: Client,
  attachmentId: string,
): Promise<Attachment> {
  // Waits until the other parts of the page have started their queries, so that one request reads all files.
  await Promise.resolve();
  await awaitFirstFetches(queries, ['story'], ({ queryKey }) => queryKey[2] === 'files');
  return queries.query(fileQuery(client, attachmentId));
}

export const storyKeyQuery = (client: Client, storyId: string) =>
  queryOptions({
    queryKey: ['story', storyId, 'key'],
    queryFn: async () => (await client.stories.get({ storyId })).story.key,
  });
