/** What the pages share: cookies, browsers, and how often an address may ask. */
import {
  type Cookies as CookiesFor,
  cookiesOf,
  createMemoryStore,
  networkOf,
  type Rate,
  requireRoom,
  type SessionCookie,
  userAgentOf,
} from '@muster/http';
import { type FastifyRequest } from 'fastify';
import { type Browser } from '../data/sessions.ts';

/** The session, and what a browser is in the middle of. */
export type CookieUse = 'session' | 'link' | 'flow' | 'passkey';
export type Cookies = CookiesFor<CookieUse>;

export const signInCookies = (cookie: SessionCookie): Cookies =>
  cookiesOf(cookie, { session: 90 * 86_400, link: 900, flow: 900, passkey: 300 });

export const browserOf = (request: FastifyRequest): Browser => ({
  ip: request.ip,
  userAgent: userAgentOf(request),
});

/** Counts what an address asks for; throws 429. */
export function createThrottle(rate: Rate): (request: FastifyRequest) => Promise<void> {
  const store = createMemoryStore();
  return async ({ ip }) => {
    requireRoom(await store.take([{ key: networkOf(ip), rate }]), 'too_many_attempts');
  };
}
