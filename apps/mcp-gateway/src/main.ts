import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { createGateway } from './app.ts';
import { readConfig } from './config.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('mcp-gateway', config);
  const logger = createLogger('mcp-gateway', config.LOG_LEVEL);
  const { httpService, close } = await createGateway(config, logger);
  stopOnSignal({ service: httpService, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS, cleanUp: close });
  logger.info(await httpService.listen(config), 'listening');
});
