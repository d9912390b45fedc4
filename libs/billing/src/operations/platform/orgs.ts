import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { listOrgs } from '../../data/platform-lists.ts';

export const orgs = handle(billingRegistry.admin.platform.orgs, ({ params, queryAllServers }) =>
  listOrgs(queryAllServers, params),
);
