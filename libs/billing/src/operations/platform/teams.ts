import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { listTeams } from '../../data/platform-lists.ts';

export const teams = handle(billingRegistry.admin.platform.teams, ({ params, queryAllServers }) =>
  listTeams(queryAllServers, params),
);
