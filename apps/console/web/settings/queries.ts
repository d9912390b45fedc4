/** The queries of the settings. Any event about settings refetches all of them. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { type Client } from '@muster/client';
import { type InputOf } from '@muster/contract';
import { type Registry } from '@muster/registry';

/** The page size. These lists contain people and their configuration, and are short enough for one page. */
const pageSize = 200;

export const invitationsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'invitations'],
    queryFn: async () => {
      const items = await Promise.all(
        (['pending', 'expired'] as const).map(
          async (state) => (await client.invitations.list({ state, limit: pageSize })).items,
        ),
      );
      return items.flat();
    },
  });

export const teamsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'teams'],
    queryFn: () => Array.fromAsync(client.teams.list.all({ limit: pageSize })),
  });

export const teamMembersQuery = (client: Client, teamId: string) =>
  queryOptions({
    queryKey: ['settings', 'teams', teamId],
    queryFn: () => Array.fromAsync(client.teams.members.list.all({ teamId, limit: pageSize })),
  });

export const tokensQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'tokens'],
    queryFn: () => Array.fromAsync(client.tokens.list.all({ limit: pageSize })),
  });

export const connectionsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'connections'],
    queryFn: () => Array.fromAsync(client.connections.list.all({ limit: pageSize })),
  });

export const passkeysQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'passkeys'],
    queryFn: () => Array.fromAsync(client.passkeys.list.all({ limit: pageSize })),
    // Passkeys are created on the sign-in page, which emits no event. The list is therefore refetched
    // whenever it is shown.
    refetchOnMount: 'always',
  });

/** The reader's chat channels and Slack accounts. Another window may have changed them, and no event says so. */
export const chatsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'chats'],
    queryFn: async () =>
      (await Array.fromAsync(client.devices.list.all({ limit: pageSize }))).filter(
        ({ platform }) => platform === 'slack' || platform === 'teams' || platform === 'slack_account',
      ),
    refetchOnMount: 'always',
  });

export const providersQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'providers'],
    queryFn: () => client.identityProviders.list({ limit: pageSize }),
    // A worker checks identity providers and emits no event, so the list is polled.
    refetchInterval: ({ state }) =>
      state.data?.items.some(({ check }) => check === null) === true ? 2_000 : 30_000,
  });

export const sessionsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'sessions'],
    queryFn: () => Array.fromAsync(client.sessions.list.all({ limit: pageSize })),
  });

export const preferencesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'preferences'],
    queryFn: () => Array.fromAsync(client.notifications.listPreferences.all({ limit: pageSize })),
  });

export const webhooksQuery = (client: Client, projectId?: string) =>
  queryOptions({
    queryKey: ['settings', 'webhooks', projectId ?? null],
    queryFn: () =>
      Array.fromAsync(
        client.webhooks.list.all({ limit: pageSize, ...(projectId !== undefined && { projectId }) }),
      ),
  });

export const deliveriesQuery = (client: Client, webhookId: string) =>
  queryOptions({
    queryKey: ['settings', 'webhooks', 'deliveries', webhookId],
    queryFn: async () => (await client.webhooks.deliveries.list({ webhookId, limit: 20 })).items,
    // Deliveries are not events, so they are polled.
    refetchInterval: 5_000,
  });

export const forgesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'forges'],
    queryFn: () => Array.fromAsync(client.forges.list.all({ limit: pageSize })),
  });

export const repositoriesQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'repositories', projectId],
    queryFn: () => Array.fromAsync(client.forges.repositories.list.all({ projectId, limit: pageSize })),
  });

export const policyQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'policy'],
    queryFn: async () => (await client.policy.get()).policy,
  });

export const seatsQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'seats'],
    queryFn: async () => {
      const [{ pricing }, { usage }, { entitlement }] = await Promise.all([
        client.billing.seatPricing(),
        client.billing.seatUsage(),
        client.billing.orgEntitlement(),
      ]);
      return { pricing, usage, entitlement };
    },
  });

export const budgetsQuery = (client: Client, projectId?: string) =>
  queryOptions({
    queryKey: ['settings', 'budgets', projectId ?? null],
    queryFn: () =>
      Array.fromAsync(
        client.budgets.list.all({ limit: pageSize, ...(projectId !== undefined && { projectId }) }),
      ),
    // Costs are reported without an event.
    refetchInterval: 30_000,
  });

export const pricesQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'prices'],
    queryFn: () => Array.fromAsync(client.usage.prices.list.all({ limit: pageSize })),
  });

export const promptsQuery = (client: Client, projectId?: string) =>
  queryOptions({
    queryKey: ['settings', 'prompts', projectId ?? null],
    queryFn: () =>
      Array.fromAsync(
        projectId === undefined
          ? client.prompts.org.list.all({ limit: pageSize, includeBody: true })
          : client.prompts.project.list.all({
              projectId,
              limit: pageSize,
              effective: true,
              includeBody: true,
            }),
      ),
  });

export const contractsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'contracts', projectId],
    queryFn: () =>
      Array.fromAsync(client.contracts.list.all({ projectId, limit: pageSize, includeContent: true })),
  });

export const columnsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'columns', projectId],
    queryFn: async () => (await client.boardColumns.list({ projectId, limit: pageSize })).items,
  });

export const projectQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'project', projectId],
    queryFn: async () => (await client.projects.get({ projectId })).project,
  });

export const participantsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'participants', projectId],
    queryFn: () => Array.fromAsync(client.projects.members.list.all({ projectId, limit: pageSize })),
  });

export const projectTeamsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'project-teams', projectId],
    queryFn: () => Array.fromAsync(client.projects.teams.list.all({ projectId, limit: pageSize })),
  });

export const accessRequestsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'access', projectId],
    queryFn: async () =>
      (await client.projects.accessRequests.list({ projectId, state: 'pending', limit: pageSize })).items,
  });

export const importsQuery = (client: Client, projectId: string) =>
  queryOptions({
    queryKey: ['settings', 'imports', projectId],
    queryFn: async () => (await client.imports.list({ projectId, limit: pageSize })).items,
  });

export const deletedStoriesQuery = (client: Client, projectId: string) =>
  infiniteQueryOptions({
    queryKey: ['settings', 'deleted-stories', projectId],
    queryFn: ({ pageParam }) =>
      client.stories.listDeleted({ projectId, limit: 50, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export const pointsProfileQuery = (client: Client) =>
  queryOptions({
    queryKey: ['settings', 'points', 'profile'],
    queryFn: async () => (await client.gamification.profile({})).profile,
    // A worker counts points and emits no event.
    refetchOnMount: 'always',
  });

export type LeaderboardPeriod = InputOf<Registry['gamification']['leaderboard']>['period'];

export const leaderboardQuery = (client: Client, period: LeaderboardPeriod) =>
  infiniteQueryOptions({
    queryKey: ['settings', 'points', period],
    queryFn: ({ pageParam }) =>
      client.gamification.leaderboard({
        ...{ period, limit: 20 },
        ...(pageParam !== null && { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchOnMount: 'always',
  });

export const exportsQuery = (client: Client, projectId?: string) =>
  queryOptions({
    queryKey: ['settings', 'exports', projectId ?? null],
    queryFn: async () => {
      const { items } = await client.exports.list({
        limit: pageSize,
        ...(projectId !== undefined && { projectId }),
      });
      // The settings of the organization leave out the exports of projects.
      return items.filter(({ scope }) => (scope === 'project') === (projectId !== undefined));
    },
    // The worker writes archives and emits no event.
    refetchInterval: ({ state }) =>
      state.data?.some((one) => one.state === 'queued' || one.state === 'running') === true ? 2_000 : 60_000,
  });
