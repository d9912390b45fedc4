import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listAccounts } from '../../data/platform-lists.ts';

export const accounts = handle(registry.admin.platform.accounts, ({ params, queryAllServers }) =>
  listAccounts(queryAllServers, params),
);
