import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { createDeliveryWorker } from './app.ts';
import { readConfig } from './config.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('delivery-worker', config);
  const logger = createLogger('delivery-worker', config.LOG_LEVEL);
  const { service, start, stop } = createDeliveryWorker(config, logger, {
    onStalledQueues: (queues) => {
      logger.fatal(
        { queues },
        'work is waiting, but this process does none of it; exiting so that it is restarted',
      );
      logger.flush(() => process.exit(1));
    },
  });
  stopOnSignal({ service, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS, cleanUp: stop });
  logger.info(await service.listen(config), 'listening');
  await start();
});
