/**
 * The cookie of a person's session, and which requests it counts for. A browser sends it along with whatever page asks, so it
 * counts only where the browser says that a page of this very origin asked (Fetch Metadata, Origin), in a form that no page of
 * another origin can send (JSON).
 */
import { forbidden, malformed, unsupportedMediaType } from '@muster/registry';
import { parseCookie } from 'cookie';
import { type FastifyRequest } from 'fastify';
import { ConfigError } from './config.ts';
import { isJsonContentType } from './json-body.ts';

export interface SessionCookie {
  /** `__Host-muster`, which no other name of the site can set; a plain one where a machine shows itself alone what it has. */
  readonly name: string;
  readonly isSecure: boolean;
  /** Where people reach Muster, as browsers name it. */
  readonly origin: string;
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Throws a ConfigError where BASE_URL is not set, or is neither https nor of this machine alone. */
export function requireSafeAddress(baseUrl: string | undefined): void {
  if (baseUrl === undefined)
    throw new ConfigError(
      'the configuration does not fit:\n  BASE_URL is not set, and people are to sign in there',
    );
  sessionCookieOf(baseUrl);
}

/**
 * Of the address where people reach Muster, or another service that has sessions of its own under another name. Throws a
 * ConfigError where that is neither https nor of this machine alone.
 */
export function sessionCookieOf(baseUrl: string, name = 'muster'): SessionCookie {
  const { origin, protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:') return { name: `__Host-${name}`, isSecure: true, origin };
  if (loopback.test(hostname)) return { name, isSecure: false, origin };
  throw new ConfigError(
    `the configuration does not fit:\n  BASE_URL is ${origin}, and people sign in over https alone`,
  );
}

export const cookieOf = ({ headers }: FastifyRequest, name: string): string | undefined =>
  headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];

/** Whether an origin is the one where people reach Muster; of a machine by itself, each of its names is. */
function isOwn(origin: string, { host }: FastifyRequest, cookie: SessionCookie): boolean {
  if (origin === cookie.origin) return true;
  return !cookie.isSecure && origin === `http://${host}` && loopback.test(new URL(origin).hostname);
}

/** Throws 403 unless the browser says that a page of this origin sent the request. */
export function requireSameOrigin(request: FastifyRequest, cookie: SessionCookie): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== 'same-origin') throw forbidden('other_origin');
  // No browser names it where it only reads.
  if (origin === undefined && request.method === 'GET') return;
  if (origin === undefined || !isOwn(origin, request, cookie)) throw forbidden('other_origin');
}

/** The secret of the session that a call comes with, if any. Throws 400, 403 and 415 where a cookie may not come along so. */
export function sessionSecretOf(request: FastifyRequest, cookie: SessionCookie): string | undefined {
  const secret = cookieOf(request, cookie.name);
  if (secret === undefined) return undefined;
  if (request.headers.authorization !== undefined) throw malformed('two_credentials');
  requireSameOrigin(request, cookie);
  if (request.method !== 'GET' && !isJsonContentType(request.headers['content-type'] ?? ''))
    throw unsupportedMediaType();
  return secret;
}
