import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('coordination-api', config);
  const logger = createLogger('coordination-api', config.LOG_LEVEL);
  const { service, close } = createApp(config, logger);
  stopOnSignal({ service, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS, cleanUp: close });
  logger.info(await service.listen(config), 'listening');
});
