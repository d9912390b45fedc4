/** Serves a folder of built pages. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import files from '@fastify/static';
import { internalError } from '@muster/contract';
import { type FastifyInstance } from 'fastify';
import { type Logger } from 'pino';
import { html } from './html.ts';
import { createPageFrame } from './page.ts';
import { type CreatedService } from './run.ts';
import { createService, type Service } from './service.ts';

export interface SiteOptions {
  /** The name of the service. */
  readonly name: string;
  /** The folder of the pages. It may be filled before or while the service runs. */
  readonly folder: string;
  readonly logger: Logger;
  /** Adds the routes, which answer with `reply.sendFile` from the folder. */
  readonly routes: (app: FastifyInstance) => void;
}

/**
 * Finds the folder of the pages: the one in the configuration, one next to the bundle of a program, or, when
 * run from sources, the folder where the program builds them first.
 */
export function findSiteFolder(
  configuredFolder: string | undefined,
  { beside, made }: { readonly beside: string; readonly made: string },
): { readonly folder: string; readonly isBuiltLocally: boolean } {
  const bundled = path.join(beside, 'site');
  const found = configuredFolder ?? (existsSync(bundled) ? bundled : undefined);
  return { folder: found ?? made, isBuiltLocally: found === undefined };
}

/**
 * Creates the service of a site from the folder of its program. From sources the pages are built once it listens, by
 * `build.ts` beside the program, in a process of its own: building needs several times the memory of serving.
 */
export function createBuiltSite(
  configuredFolder: string | undefined,
  { beside, made }: { readonly beside: string; readonly made: string },
  create: (folder: string) => Service,
): CreatedService {
  const { folder, isBuiltLocally: isMadeHere } = findSiteFolder(configuredFolder, { beside, made });
  const service = create(folder);
  if (!isMadeHere) return { service };
  const stopping = new AbortController();
  return {
    service,
    start: async () => {
      const builder = spawn(process.execPath, [path.join(beside, 'build.ts'), folder], {
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
    },
    close: async () => {
      stopping.abort();
    },
  };
}

const mostInFlight = 200;
const reloadSeconds = 3;

const buildingPage = createPageFrame()({
  title: 'Muster is starting',
  body: html`<section class="card">
    <h1>Muster is starting</h1>
    <p>Its pages are being built, which takes up to a minute. This page reloads automatically.</p>
  </section>`,
});

/** Creates a service that is not ready until its first page exists, and says so at every address. */
export function createSite({ name, folder, logger, routes }: SiteOptions): Service {
  const isThere = (): boolean => existsSync(path.join(folder, 'index.html'));
  const service = createService({
    name,
    logger,
    checks: [
      {
        name: 'site',
        needed: true,
        run: async () => (isThere() ? undefined : 'the pages are being built'),
      },
    ],
    maxInFlight: mostInFlight,
    trustProxy: false,
    toApiError: internalError,
  });
  service.app.register(async (site) => {
    await site.register(files, { root: folder, serve: false, cacheControl: false, preCompressed: true });
    site.addHook('onRequest', async (_request, reply) => {
      if (isThere()) return;
      await reply
        .code(503)
        .headers({ ...buildingPage.headers, 'retry-after': reloadSeconds, refresh: reloadSeconds })
        .send(buildingPage.body);
    });
    routes(site);
  });
  return service;
}
