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

/** The session, the last session of a browser after it has ended (`known`), and what the browser is in the middle of. */
export type CookieUse = 'session' | 'known' | 'link' | 'flow' | 'passkey';
export type Cookies = CookiesFor<CookieUse>;

const sessionSeconds = 90 * 86_400;

export function signInCookies(cookie: SessionCookie): Cookies {
  const cookies = cookiesOf(cookie, {
    ...{ session: sessionSeconds, known: sessionSeconds },
    ...{ link: 900, flow: 900, passkey: 300 },
  });
  return {
    ...cookies,
    set: (reply, what, value) => {
      cookies.set(reply, what, value);
      // It stays when its person signs out, and then proves only that this browser was theirs.
      if (what === 'session') cookies.set(reply, 'known', value);
    },
  };
}

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
