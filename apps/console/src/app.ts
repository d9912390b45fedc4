/** The console as files: one page for every address, and what it is made of under names that change with it. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import files from '@fastify/static';
import { createService, internal, type Service } from '@muster/http';
import { type Logger } from 'pino';

const mostInFlight = 200;

/** Scripts of ours alone, and none made from text: DOMPurify's policy is the one way from text to elements. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ');

const pageHeaders = {
  // A new version is there with the next load.
  'cache-control': 'no-cache',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
const fileHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
};

/** What esbuild names a file after its content: `board-5XQ2MB3A.js`. */
const isBuiltFile = /^[\w-]+-[A-Z0-9]{8}\.(js|css|svg)(\.map)?$/;

/** Serves the console in a folder; until it is there it is not ready. */
export function createConsole(folder: string, logger: Logger): Service {
  const isThere = (): boolean => existsSync(path.join(folder, 'index.html'));
  const service = createService({
    name: 'console',
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
  service.app.register(files, { root: folder, serve: false, cacheControl: false });
  service.app.get('/console', (_request, reply) => reply.redirect('/console/', 308));
  service.app.get<{ Params: { file: string } }>('/console/assets/:file', (request, reply) => {
    const { file } = request.params;
    if (!isBuiltFile.test(file) || !existsSync(path.join(folder, 'assets', file)))
      return reply
        .code(404)
        .header('cache-control', 'no-store')
        .type('text/plain')
        .send('There is no such file.');
    return reply.headers(fileHeaders).sendFile(`assets/${file}`);
  });
  service.app.get('/console/*', (_request, reply) => reply.headers(pageHeaders).sendFile('index.html'));
  return service;
}
