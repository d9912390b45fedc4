import { defineService, runServices } from '@muster/http';
import { createDeliveryWorker } from './app.ts';
import { readConfig } from './config.ts';

export const startService = defineService('delivery-worker', readConfig, (config, logger) => {
  const { service, start, stop } = createDeliveryWorker(config, logger, {
    onStalledQueues: (queues) => {
      logger.fatal(
        { queues },
        'work is waiting, but this process does none of it; exiting so that it is restarted',
      );
      logger.flush(() => process.exit(1));
    },
  });
  return { service, start, close: stop };
});

if (import.meta.main) await runServices([startService]);
