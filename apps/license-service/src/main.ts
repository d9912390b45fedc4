import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { createLicenseService } from './app.ts';
import { readConfig } from './config.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('license-service', config);
  const logger = createLogger('license-service', config.LOG_LEVEL);
  const { service, start, close } = createLicenseService(config, logger);
  stopOnSignal({ service, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS, cleanUp: close });
  logger.info(await service.listen(config), 'listening');
  await start();
});
