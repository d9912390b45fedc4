/** Queries for members and agents. They are refetched together with the settings. */
import { queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';

const pageSize = 200;

export const membersQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'members'],
    queryFn: () => Array.fromAsync(client.members.list.all({ limit: pageSize })),
  });

export const agentsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'agents'],
    queryFn: () => Array.fromAsync(client.agents.list.all({ limit: pageSize })),
  });
