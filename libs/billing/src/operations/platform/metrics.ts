import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getPlatformMetrics } from '../../data/platform-metrics.ts';

export const metrics = handle(registry.admin.platform.metrics, async ({ queryAllServers }) => ({
  metrics: await getPlatformMetrics(queryAllServers),
}));
