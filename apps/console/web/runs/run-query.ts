import { type Client } from '@muster/client';
import { queryOptions } from '@tanstack/react-query';

/** Fetches a run. Events of work invalidate it, and polling shows renewals, which emit no events. */
export const runQuery = (client: Client, runId: string, projectId: string | undefined) =>
  queryOptions({
    queryKey: ['work', 'run', runId, projectId ?? null],
    queryFn: () => client.agents.runs.get({ runId, ...(projectId !== undefined && { projectId }) }),
    refetchInterval: 30_000,
  });

/** The number of runs that a story's page lists. */
const maxStoryRuns = 5;

export const storyRunsQuery = (client: Client, storyKey: string) =>
  queryOptions({
    queryKey: ['story', storyKey, 'runs'],
    queryFn: async () => (await client.agents.runs.list({ storyId: storyKey, limit: maxStoryRuns })).items,
  });
