/** Helpers that the routes share: cookies, browser facts and rate limits. */
import {
  type Cookies as CookiesFor,
  createCookies,
  createMemoryStore,
  networkOf,
  type Rate,
  requireWithinLimits,
  type SessionCookie,
  userAgentOf,
} from '@muster/http';
import { type FastifyRequest } from 'fastify';
import { type BrowserFacts } from '../data/sessions.ts';

/**
 * The purpose of a cookie: the session, the browser's last session after it has ended (`known`), or a pending
 * flow.
 */
export type CookiePurpose = 'session' | 'known' | 'link' | 'flow' | 'passkey';
export type SignInCookies = CookiesFor<CookiePurpose>;

const sessionCookieSeconds = 90 * 86_400;

export function signInCookies(cookie: SessionCookie): SignInCookies {
  const cookies = createCookies(cookie, {
    ...{ session: sessionCookieSeconds, known: sessionCookieSeconds },
    ...{ link: 900, flow: 900, passkey: 300 },
  });
  return {
    ...cookies,
    set: (reply, what, value) => {
      cookies.set(reply, what, value);
      // The cookie `known` remains after signing out. It then only shows that the person has used this
      // browser.
      if (what === 'session') cookies.set(reply, 'known', value);
    },
  };
}

export const browserFactsOf = (request: FastifyRequest): BrowserFacts => ({
  ip: request.ip,
  userAgent: userAgentOf(request),
});

/** Creates a rate limit per address; it throws 429. */
export function createThrottle(rate: Rate): (request: FastifyRequest) => Promise<void> {
  const store = createMemoryStore();
  return async ({ ip }) => {
    requireWithinLimits(await store.take([{ key: networkOf(ip), rate }]), 'too_many_attempts');
  };
}
