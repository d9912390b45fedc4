/** Queries of what runs used. Reports of usage emit no events, so they are polled. */
import { type Client } from '@muster/client';
import { type AgentRecordGrouping, type UsageGrouping } from '@muster/contract';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { dayMs, serverNow } from '../data/time.ts';

const pollingIntervalMs = 60_000;

export interface UsageFilter {
  readonly project?: string;
  readonly story?: string;
  readonly agent?: string;
}

/** Returns the start of the UTC day that begins a range of this many days, which ends today. */
export const rangeStart = (days: number, nowMs: number): number =>
  nowMs - (nowMs % dayMs) - (days - 1) * dayMs;

const toParams = ({ project, story, agent }: UsageFilter, days: number) => ({
  ...(project !== undefined && { projectId: project }),
  ...(story !== undefined && { storyId: story }),
  ...(agent !== undefined && { agentId: agent }),
  from: new Date(rangeStart(days, serverNow())).toISOString(),
});

export const usageTableQuery = (client: Client, groupBy: UsageGrouping, filter: UsageFilter, days: number) =>
  infiniteQueryOptions({
    queryKey: ['usage', 'table', groupBy, filter, days],
    queryFn: ({ pageParam }) =>
      client.usage.summary({
        ...toParams(filter, days),
        ...{ groupBy, limit: 50, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: pollingIntervalMs,
  });

export const outcomesQuery = (
  client: Client,
  groupBy: AgentRecordGrouping,
  project: string | undefined,
  days: number,
) =>
  infiniteQueryOptions({
    queryKey: ['usage', 'outcomes', groupBy, project, days],
    queryFn: ({ pageParam }) =>
      client.agents.record({
        ...toParams(project === undefined ? {} : { project }, days),
        ...{ groupBy, limit: 50, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: pollingIntervalMs,
  });

/** Fetches every group. Use it only for groups that are few: projects, days and weeks. */
export const usageSumsQuery = (
  client: Client,
  groupBy: 'project' | 'day' | 'week',
  filter: UsageFilter,
  days: number,
) =>
  queryOptions({
    queryKey: ['usage', 'sums', groupBy, filter, days],
    queryFn: () =>
      Array.fromAsync(client.usage.summary.all({ ...toParams(filter, days), groupBy, limit: 200 })),
    refetchInterval: pollingIntervalMs,
  });

/** Fetches what all runs on a story used, per currency. */
export const storyUsageQuery = (client: Client, storyKey: string, createdAt: string) =>
  queryOptions({
    queryKey: ['usage', 'story', storyKey],
    queryFn: async () =>
      (await client.usage.summary({ groupBy: 'story', storyId: storyKey, from: createdAt })).items,
    refetchInterval: pollingIntervalMs,
  });
