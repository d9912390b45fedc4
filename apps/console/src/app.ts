/**
 * Serves the console as files: one page for every address, and assets whose names change with their content.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Service } from '@muster/http';
import { createSite } from '@muster/http/site';
import { type Logger } from 'pino';

/**
 * The content security policy. Only the console's own scripts run, and none is created from text. DOMPurify's
 * policy is the only way to turn text into elements.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ');

const pageHeaders = {
  // Makes the browser revalidate the page on each load, so that it loads a new release immediately.
  'cache-control': 'no-cache',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
const assetHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'x-content-type-options': 'nosniff',
};

/** Matches the name that esbuild gives a file by its content: `board-5XQ2MB3A.js`. */
const builtFilePattern = /^[\w-]+-[A-Z0-9]{8}\.(js|css|svg)(\.map)?$/;

export const createConsole = (siteFolder: string, logger: Logger): Service =>
  createSite({
    ...{ name: 'console', folder: siteFolder, logger },
    routes: (app) => {
      app.get('/console', (_request, reply) => reply.redirect('/console/', 308));
      app.get<{ Params: { file: string } }>('/console/assets/:file', (request, reply) => {
        const { file } = request.params;
        if (!builtFilePattern.test(file) || !existsSync(path.join(siteFolder, 'assets', file)))
          return reply
            .code(404)
            .header('cache-control', 'no-store')
            .type('text/plain')
            .send('There is no such file.');
        return reply.headers(assetHeaders).sendFile(`assets/${file}`);
      });
      app.get('/console/*', (_request, reply) => reply.headers(pageHeaders).sendFile('index.html'));
    },
  });
