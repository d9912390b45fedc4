import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { createSignIn } from './app.ts';
import { readConfig } from './config.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('sign-in', config);
  const logger = createLogger('sign-in', config.LOG_LEVEL);
  const { service, close } = await createSignIn(config, logger);
  stopOnSignal({ service, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS, cleanUp: close });
  logger.info(await service.listen(config), 'listening');
});
