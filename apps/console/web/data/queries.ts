/** What pages read, each under one key; events of the stream say which keys are old. */
import { queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type Project } from '@muster/registry';

export const projectsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['projects'],
    queryFn: async (): Promise<Project[]> => {
      const items = await Array.fromAsync(client.projects.list.all({ limit: 200 }));
      return items.toSorted((one, other) => one.name.localeCompare(other.name));
    },
  });

/** All that is to be known of a story, in one answer; not the prompts and contracts, which are for those who work on it. */
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
          ] as const),
          ...(['readiness', 'others', 'recentActivity'] as const),
        ],
        maxBytes: 1024 * 1024,
      }),
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

/** A version never changes. */
export const specQuery = (client: Client, storyKey: string, version: number) =>
  queryOptions({
    queryKey: ['spec', storyKey, version],
    queryFn: async () => (await client.storySpec.get({ storyId: storyKey, version })).spec,
  });

export const timelineQuery = (client: Client, storyKey: string, executionId: string) =>
  queryOptions({
    queryKey: ['story', storyKey, 'timeline', executionId],
    queryFn: async () => (await client.deliveryExecutions.eventsSince({ executionId, limit: 200 })).items,
  });
