import { beginTracing, createLogger, main, stopOnSignal } from '@muster/service';
import { createGateway } from './app.ts';
import { readConfig } from './config.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('mcp-gateway', config);
  const logger = createLogger('mcp-gateway', config.LOG_LEVEL);
  const { service, close } = await createGateway(config, logger);
  stopOnSignal({ service, logger, noticeMillis: config.DRAIN_NOTICE_MILLIS, cleanUp: close });
  const address = await service.app.listen({ host: config.HOST, port: config.PORT });
  logger.info({ address }, 'listening');
});
