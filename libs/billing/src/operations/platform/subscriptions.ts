import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { listSubscriptions } from '../../data/platform-lists.ts';

export const subscriptions = handle(
  billingRegistry.admin.platform.subscriptions,
  ({ params, queryAllServers }) => listSubscriptions(queryAllServers, params),
);
