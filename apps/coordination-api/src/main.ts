import { beginTracing, createLogger, main, stopOnSignal } from '@muster/service';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('coordination-api', config);
  const logger = createLogger('coordination-api', config.LOG_LEVEL);
  const { service, close } = createApp(config, logger);
  stopOnSignal({ service, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS, cleanUp: close });
  const address = await service.app.listen({ host: config.HOST, port: config.PORT });
  logger.info({ address }, 'listening');
});
