import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';

/** Queries the unread notifications in pages, newest first. */
export const unreadPagesQuery = (client: Client) =>
  infiniteQueryOptions({
    queryKey: ['inbox', 'unread'],
    queryFn: ({ pageParam }) =>
      client.notifications.list({
        ...{ unreadOnly: true, limit: 100 },
        ...(pageParam !== null && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Queries the newest notifications, read and unread. */
export const recentNotificationsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['inbox', 'recent'],
    queryFn: async () => (await client.notifications.list({ limit: 100 })).items,
  });

/** Queries the snoozed notifications. Their number is limited, so the first page is enough to find one. */
export const snoozedNotificationsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['inbox', 'snoozed'],
    queryFn: async () => (await client.notifications.list({ snoozed: true, limit: 200 })).items,
  });
