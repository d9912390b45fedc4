import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listSubscriptions } from '../../data/platform-lists.ts';

export const subscriptions = handle(registry.admin.platform.subscriptions, ({ params, queryAllServers }) =>
  listSubscriptions(queryAllServers, params),
);
