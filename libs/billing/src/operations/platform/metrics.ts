import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getMetrics } from '../../data/platform-metrics.ts';

export const metrics = handle(registry.admin.platform.metrics, async ({ everywhere }) => ({
  metrics: await getMetrics(everywhere),
}));
