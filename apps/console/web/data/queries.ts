/** Queries of the pages, by key. Events of the stream invalidate keys. */
import { type Query, type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type Execution, type Project } from '@muster/contract';
import { type ConsoleSession } from './session.ts';

/** The organization as it was when the session began, until an event invalidates it. */
export const orgQuery = ({ client, identity }: ConsoleSession) =>
  queryOptions({
    queryKey: ['org'],
    queryFn: async () => (await client.session.identity()).org,
    initialData: identity.org,
    staleTime: Number.POSITIVE_INFINITY,
  });

export const projectsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['projects'],
    queryFn: async (): Promise<Project[]> => {
      const items = await Array.fromAsync(client.projects.list.all({ limit: 200 }));
      return items.toSorted((one, other) => one.name.localeCompare(other.name));
    },
  });

/**
 * Fetches everything about a story in one call, except for prompts and contracts, which are for those who
 * work on it.
 */
export const storyQuery = (client: Client, storyKey: string) =>
  queryOptions({
    queryKey: ['story', storyKey, 'context'],
    queryFn: () =>
      client.storyCollaboration.context({
        storyId: storyKey,
        include: [
          ...([
            'story',
            'epic',
            'spec',
            'reviewers',
            'assignment',
            'execution',
            'locks',
            'collisions',
            'touches',
          ] as const),
          ...(['readiness', 'others'] as const),
        ],
        maxBytes: 1024 * 1024,
      }),
  });

/**
 * Fetches the stories that are related to a story, and the response of the agent that was asked to work on it. Changes
 * of any related story make the result outdated.
 */
export const relatedQuery = (client: Client, storyKey: string) =>
  queryOptions({
    queryKey: ['related', storyKey],
    queryFn: async () => {
      const { parent, children, blocks, subscribed, agentResponse } = await client.stories.get({
        storyId: storyKey,
      });
      return { parent, children, blocks, subscribed, agentResponse };
    },
  });

export const threadsQuery = (client: Client, storyKey: string) =>
  queryOptions({
    queryKey: ['story', storyKey, 'threads'],
    queryFn: () => client.comments.list({ storyId: storyKey, limit: 200 }),
  });

export const historyQuery = (client: Client, storyKey: string) =>
  queryOptions({
    queryKey: ['story', storyKey, 'history'],
    queryFn: () => client.storySpec.history({ storyId: storyKey, limit: 200 }),
  });

/** Fetches a version of a spec, which never changes. */
export const specQuery = (client: Client, storyKey: string, version: number) =>
  queryOptions({
    queryKey: ['spec', storyKey, version],
    queryFn: async () => (await client.storySpec.get({ storyId: storyKey, version })).spec,
  });

/** Fetches the newest events. `lastEventSeq` may be outdated, so the limit leaves room for later events. */
export const timelineQuery = (
  client: Client,
  storyKey: string,
  { id: executionId, lastEventSeq }: Pick<Execution, 'id' | 'lastEventSeq'>,
) =>
  queryOptions({
    queryKey: ['story', storyKey, 'timeline', executionId],
    queryFn: async () => {
      const afterSeq = Math.max(0, lastEventSeq - 150);
      return (await client.deliveryExecutions.eventsSince({ executionId, afterSeq, limit: 200 })).items;
    },
  });

const activeExecutionStates = ['leased', 'waiting_input', 'stalled', 'offered'] as const;

/**
 * Fetches work with a holder, an expired lease or an offer. It is polled for lease times, because renewals
 * emit no events.
 */
export const activeWorkQuery = (client: Client) =>
  queryOptions({
    queryKey: ['work', 'under-way'],
    queryFn: async () =>
      (await client.deliveryExecutions.list({ state: [...activeExecutionStates], limit: 200 })).items,
    refetchInterval: 30_000,
  });

/** Fetches work that was released because of a stop request and has no new holder, newest first. */
export const stoppedWorkQuery = (client: Client) =>
  queryOptions({
    queryKey: ['work', 'stopped'],
    queryFn: async () => {
      const { items } = await client.deliveryExecutions.list({ state: ['available'], limit: 200 });
      return items.filter(({ stopRequested }) => stopRequested !== null);
    },
  });

/** Fetches the live locks of a project. It is polled, because expiry emits no event. */
export const locksQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['work', 'locks', projectId],
    queryFn: () => Array.fromAsync(client.locks.list.all({ projectId, limit: 200 })),
    refetchInterval: 30_000,
  });

/**
 * Fetches the files of a story's work that others are working on too. The query is polled, because otherwise
 * each event about any work would have to refetch it.
 */
export const collisionsQuery = (client: Client, storyKey: string) =>
  queryOptions({
    queryKey: ['collisions', storyKey],
    queryFn: async () => {
      const { collisions } = await client.storyCollaboration.context({
        storyId: storyKey,
        include: ['collisions'],
      });
      return collisions ?? [];
    },
    refetchInterval: 30_000,
  });

export const reworkNeededQuery = (client: Client) =>
  queryOptions({
    queryKey: ['work', 'rework'],
    queryFn: async () =>
      (
        await client.deliveryExecutions.list({
          state: ['submitted', 'available'],
          needsRework: true,
          limit: 50,
        })
      ).items,
  });

export const pendingReviewsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['reviews'],
    queryFn: async () => (await client.reviewers.listForUser({ verdict: 'pending', limit: 100 })).items,
  });

/** Queries the newest unread notifications. */
export const unreadNotificationsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['inbox'],
    queryFn: async () => (await client.notifications.list({ unreadOnly: true, limit: 100 })).items,
  });

export const unreadCountQuery = (client: Client) =>
  queryOptions({
    queryKey: ['unread'],
    queryFn: async () => (await client.notifications.unreadCount()).unread,
  });

const listEpics = (client: Client, projectId: string) =>
  Array.fromAsync(client.epics.list.all({ projectId, limit: 200 }));

/** Fetches the epics of a project, for their names and colors. */
export const epicsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['epics', 'names', projectId],
    queryFn: () => listEpics(client, projectId),
  });

/** Fetches the epics of a project with the progress of their stories, which each change of a status changes. */
export const epicProgressQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['epics', 'progress', projectId, 'epics'],
    queryFn: () => listEpics(client, projectId),
  });

/** Waits for the first fetches of queries under a key that are in progress. */
export async function awaitFirstFetches(
  queries: QueryClient,
  queryKey: QueryKey,
  isIncluded: (query: Query) => boolean = () => true,
): Promise<void> {
  const firstFetches = queries.getQueryCache().findAll({
    ...{ queryKey, fetchStatus: 'fetching' },
    predicate: (query) => query.state.data === undefined && isIncluded(query),
  });
  await Promise.allSettled(firstFetches.map((query) => query.fetch()));
}
