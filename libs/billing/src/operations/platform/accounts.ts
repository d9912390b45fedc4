import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { listAccounts } from '../../data/platform-lists.ts';

export const accounts = handle(billingRegistry.admin.platform.accounts, ({ params, queryAllServers }) =>
  listAccounts(queryAllServers, params),
);
