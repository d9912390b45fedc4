import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listOrgs } from '../../data/platform-lists.ts';

export const orgs = handle(registry.admin.platform.orgs, ({ params, queryAllServers }) =>
  listOrgs(queryAllServers, params),
);
