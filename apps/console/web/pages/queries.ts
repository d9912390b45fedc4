import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type AuditFilter } from '../data/trail-filter.ts';
import { utcWeekStart, weekMs } from '../data/time.ts';
import { dayStart } from './trail-bounds.ts';

const pageSize = 200;

export const groupsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['epics', 'progress', projectId, 'groups'],
    queryFn: () => Array.fromAsync(client.deliveryGroups.list.all({ projectId, limit: pageSize })),
  });

/** Queries delivery metrics for this many weeks including the current one. Weeks begin on Monday in UTC. */
export const healthQuery = (client: Client, projectId: string, weeks: number) =>
  queryOptions({
    queryKey: ['health', projectId, weeks],
    queryFn: () => {
      const now = Date.now();
      const monday = utcWeekStart(now);
      const at = (millis: number): string => new Date(millis).toISOString();
      return client.projects.deliveryHealth({
        ...{ projectId, from: at(monday - (weeks - 1) * weekMs), to: at(now) },
      });
    },
    staleTime: 60_000,
  });

export const auditParams = ({ actor, outcome, operation, from, to }: AuditFilter) => ({
  ...(outcome !== undefined && { outcome }),
  ...(operation !== undefined && { operation: operation.trim() }),
  ...(actor !== undefined && { actorId: actor }),
  ...(from !== undefined && { from: dayStart(from) }),
  ...(to !== undefined && { to: dayStart(to, 1) }),
});

export const auditQuery = (client: Client, filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam }) =>
      client.audit.list({
        ...auditParams(filter),
        ...{ limit: 50, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // Denied attempts emit no events, so cached data may always be outdated.
    staleTime: 0,
  });
