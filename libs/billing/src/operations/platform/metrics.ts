import { billingRegistry } from '@muster/billing-registry';
import { handle } from '@muster/runtime';
import { getPlatformMetrics } from '../../data/platform-metrics.ts';

export const metrics = handle(billingRegistry.admin.platform.metrics, async ({ queryAllServers }) => ({
  metrics: await getPlatformMetrics(queryAllServers),
}));
