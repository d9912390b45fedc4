import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listTeams } from '../../data/platform-lists.ts';

export const teams = handle(registry.admin.platform.teams, ({ params, queryAllServers }) =>
  listTeams(queryAllServers, params),
);
