/** A folder of built pages as a service. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import files from '@fastify/static';
import { internal } from '@muster/registry';
import { type FastifyInstance } from 'fastify';
import { type Logger } from 'pino';
import { html } from './html.ts';
import { createPageFrame } from './page.ts';
import { createService, type Service } from './service.ts';

export interface SiteOptions {
  /** Of the service. */
  readonly name: string;
  /** Where the pages are; they are made while the service runs, or were before. */
  readonly folder: string;
  readonly logger: Logger;
  /** What answers at which address: by `reply.sendFile`, below the folder. */
  readonly routes: (app: FastifyInstance) => void;
}

/**
 * Where the pages are: in the folder that the configuration names, beside the bundle of a program, or, from the sources,
 * where the program makes them first.
 */
export function placeSite(
  named: string | undefined,
  { beside, made }: { readonly beside: string; readonly made: string },
): { readonly folder: string; readonly isMadeHere: boolean } {
  const bundled = path.join(beside, 'site');
  const found = named ?? (existsSync(bundled) ? bundled : undefined);
  return { folder: found ?? made, isMadeHere: found === undefined };
}

const mostInFlight = 200;
const lookAgainSeconds = 3;

const unmade = createPageFrame({
  name: 'Muster',
  style: `main { max-width: 36rem; margin: 20vh auto; padding: 0 1.5rem; font: 1rem/1.6 var(--font) }
h1 { font-size: 1.5rem }`,
})({
  title: 'The pages are being made',
  body: html`<main>
    <h1>The pages are being made</h1>
    <p>It takes up to a minute after a change. This page loads again by itself.</p>
  </main>`,
});

/** Not ready, and saying so at every address, until its first page is there. */
export function createSite({ name, folder, logger, routes }: SiteOptions): Service {
  const isThere = (): boolean => existsSync(path.join(folder, 'index.html'));
  const service = createService({
    name,
    logger,
    checks: [
      {
        name: 'site',
        needed: true,
        run: async () => (isThere() ? undefined : 'the pages are being made'),
      },
    ],
    mostInFlight,
    trustProxy: false,
    toApiError: internal,
  });
  service.app.register(async (site) => {
    await site.register(files, { root: folder, serve: false, cacheControl: false, preCompressed: true });
    site.addHook('onRequest', async (_request, reply) => {
      if (isThere()) return;
      await reply
        .code(503)
        .headers({ ...unmade.headers, 'retry-after': lookAgainSeconds, refresh: lookAgainSeconds })
        .send(unmade.body);
    });
    routes(site);
  });
  return service;
}
