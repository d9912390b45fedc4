/**
 * Reads the cookie of a person's session and decides which requests may use it. A browser sends the cookie
 * with requests of any page. It is accepted only if the browser states that a page of this origin made the
 * request (Fetch Metadata, Origin). The request must also have a format that pages of other origins cannot
 * send (JSON).
 */
import { forbidden, malformedRequest, unsupportedMediaType } from '@muster/contract';
import { parseCookie } from 'cookie';
import { type FastifyRequest } from 'fastify';
import { ConfigError } from './config.ts';
import { isJsonContentType } from './json-body.ts';

export interface SessionCookie {
  /**
   * The name of the cookie: `__Host-muster`, which no other host of the site can set. It has no prefix on a
   * machine that serves only itself over http.
   */
  readonly name: string;
  readonly isSecure: boolean;
  /** The public origin of Muster, as browsers send it. */
  readonly origin: string;
}

const loopbackPattern = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Throws a ConfigError if BASE_URL is not set, or is neither https nor a loopback address. */
export function requireSecureBaseUrl(baseUrl: string | undefined): void {
  if (baseUrl === undefined)
    throw new ConfigError('The configuration is invalid:\n  BASE_URL is not set, but sign-in needs it');
  sessionCookieOf(baseUrl);
}

/**
 * Derives the session cookie from the public address of Muster, or of another service with sessions of its
 * own under another name. Throws a ConfigError if the address is neither https nor a loopback address.
 */
export function sessionCookieOf(baseUrl: string, name = 'muster'): SessionCookie {
  const { origin, protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:') return { name: `__Host-${name}`, isSecure: true, origin };
  if (loopbackPattern.test(hostname)) return { name, isSecure: false, origin };
  throw new ConfigError(`The configuration is invalid:\n  BASE_URL is ${origin}, but sign-in needs https`);
}

export const cookieOf = ({ headers }: FastifyRequest, name: string): string | undefined =>
  headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];

/** True if an origin is the public one. On a loopback address, each name of the machine counts. */
function isOwnOrigin(origin: string, { host }: FastifyRequest, cookie: SessionCookie): boolean {
  if (origin === cookie.origin) return true;
  return !cookie.isSecure && origin === `http://${host}` && loopbackPattern.test(new URL(origin).hostname);
}

/** Throws 403 unless the browser states that a page of this origin sent the request. */
export function requireSameOrigin(request: FastifyRequest, cookie: SessionCookie): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== 'same-origin') throw forbidden('other_origin');
  // Browsers omit the origin in requests that only read.
  if (origin === undefined && request.method === 'GET') return;
  if (origin === undefined || !isOwnOrigin(origin, request, cookie)) throw forbidden('other_origin');
}

/**
 * Returns the secret of the session in a request, if any. Throws 400, 403 or 415 if the request may not use a
 * cookie.
 */
export function sessionSecretOf(request: FastifyRequest, cookie: SessionCookie): string | undefined {
  const secret = cookieOf(request, cookie.name);
  if (secret === undefined) return undefined;
  if (request.headers.authorization !== undefined) throw malformedRequest('two_credentials');
  requireSameOrigin(request, cookie);
  if (request.method !== 'GET' && !isJsonContentType(request.headers['content-type'] ?? ''))
    throw unsupportedMediaType();
  return secret;
}
