import path from 'node:path';
import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { findSiteFolder } from '@muster/http/site';
import { createConsole } from './app.ts';
import { readConfig } from './config.ts';

const builtSiteFolder = path.resolve(import.meta.dirname, '../../../dist/console-site');

await main(async () => {
  const config = readConfig();
  await beginTracing('console', config);
  const logger = createLogger('console', config.LOG_LEVEL);
  const { folder, isMadeHere } = findSiteFolder(config.SITE_FOLDER, {
    beside: import.meta.dirname,
    made: builtSiteFolder,
  });
  const service = createConsole(folder, logger);
  stopOnSignal({
    service,
    logger,
    noticeMillis: config.DRAIN_NOTICE_MILLIS,
    cleanUp: () => Promise.resolve(),
  });
  logger.info(await service.listen(config), 'listening');
  if (!isMadeHere) return;
  // When run from sources, the program builds the pages first. A bundler cannot follow this import, since the
  // builder is not shipped.
  const builder = './build.ts';
  const { makeSite } = (await import(builder)) as { makeSite: (folder: string) => Promise<unknown> };
  await makeSite(folder);
});
