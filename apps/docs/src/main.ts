import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { beginTracing, createLogger, main, stopOnSignal } from '@muster/http';
import { findSiteFolder } from '@muster/http/site';
import { createDocsService } from './app.ts';
import { readConfig } from './config.ts';
import { builtSiteFolder } from './made-site.ts';

await main(async () => {
  const config = readConfig();
  await beginTracing('docs', config);
  const logger = createLogger('docs', config.LOG_LEVEL);
  const { folder, isMadeHere } = findSiteFolder(config.SITE_FOLDER, {
    beside: import.meta.dirname,
    made: builtSiteFolder,
  });
  const service = createDocsService(folder, logger);
  const stopping = new AbortController();
  stopOnSignal({
    service,
    logger,
    noticeMillis: config.DRAIN_NOTICE_MILLIS,
    cleanUp: () => {
      stopping.abort();
      return Promise.resolve();
    },
  });
  logger.info(await service.listen(config), 'listening');
  if (!isMadeHere) return;
  // When run from sources, the program builds the pages first, in a separate process, since building needs
  // four times the memory of serving.
  const builder = spawn(process.execPath, [path.join(import.meta.dirname, 'build.ts'), folder], {
    // Progress messages are not warnings, so they go to stdout.
    stdio: ['ignore', 1, 1],
    signal: stopping.signal,
  });
  try {
    const [code] = (await once(builder, 'exit')) as [number | null];
    if (code !== 0) throw new Error('the pages could not be built');
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  }
});
