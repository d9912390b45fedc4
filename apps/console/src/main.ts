import { existsSync } from 'node:fs';
import path from 'node:path';
import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { createConsole } from './app.ts';
import { readConfig } from './config.ts';

/** Beside a bundle. */
const bundled = path.join(import.meta.dirname, 'site');
const made = path.resolve(import.meta.dirname, '../../../dist/console-site');

await main(async () => {
  const config = readConfig();
  await beginTracing('console', config);
  const logger = createLogger('console', config.LOG_LEVEL);
  const isBundle = existsSync(bundled);
  const folder = config.SITE_FOLDER ?? (isBundle ? bundled : made);
  const service = createConsole(folder, logger);
  stopOnSignal({
    service,
    logger,
    noticeMillis: config.DRAIN_NOTICE_MILLIS,
    cleanUp: () => Promise.resolve(),
  });
  logger.info(await service.listen(config), 'listening');
  if (isBundle || config.SITE_FOLDER !== undefined) return;
  // From the sources it makes them first. By a name that no bundler follows: what makes the pages does not ship.
  const builder = './build.ts';
  const { makeSite } = (await import(builder)) as { makeSite: (folder: string) => Promise<unknown> };
  await makeSite(folder);
});
