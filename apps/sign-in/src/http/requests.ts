/** What the pages share: forms, cookies, and where people go next. */
import {
  cookieOf,
  createMemoryStore,
  networkOf,
  type Rate,
  requireSameOrigin,
  retryAfterSeconds,
  type SessionCookie,
  tooMany,
} from '@muster/http';
import { stringifySetCookie } from 'cookie';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Browser } from '../data/sessions.ts';

/** Of a form; each field once. */
export type Form = Readonly<Record<string, string>>;

export const formOf = ({ body }: FastifyRequest): Form => (body ?? {}) as Form;

export function takeForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 16 * 1024 },
    (_request, text, done) => {
      done(null, Object.fromEntries(new URLSearchParams(text.toString())));
    },
  );
}

/** A form's request, before its body is read: of a page of this origin. Throws 403. */
export const fromOwnPage =
  (cookie: SessionCookie) =>
  async (request: FastifyRequest): Promise<void> => {
    requireSameOrigin(request, cookie);
  };

export interface Cookies {
  readonly read: (request: FastifyRequest, what: CookieUse) => string | undefined;
  readonly set: (reply: FastifyReply, what: CookieUse, value: string) => void;
  readonly clear: (reply: FastifyReply, what: CookieUse) => void;
}

/** The session, and what a browser is in the middle of. */
export type CookieUse = 'session' | 'link' | 'flow' | 'passkey';
const seconds: Readonly<Record<CookieUse, number>> = {
  session: 90 * 86_400,
  link: 900,
  flow: 900,
  passkey: 300,
};

/** Sent to this origin alone, kept from scripts, and not sent along by pages of other sites but by a link to here. */
export function cookiesOf({ name, isSecure }: SessionCookie): Cookies {
  const nameOf = (what: CookieUse): string => (what === 'session' ? name : `${name}-${what}`);
  const send = (reply: FastifyReply, what: CookieUse, value: string, maxAge: number): void => {
    const cookie = { name: nameOf(what), value, maxAge, path: '/', httpOnly: true };
    void reply.header('set-cookie', stringifySetCookie({ ...cookie, secure: isSecure, sameSite: 'lax' }));
  };
  return {
    read: (request, what) => cookieOf(request, nameOf(what)),
    set: (reply, what, value) => {
      send(reply, what, value, seconds[what]);
    },
    clear: (reply, what) => {
      send(reply, what, '', 0);
    },
  };
}

export const browserOf = ({ ip, headers }: FastifyRequest): Browser => ({
  ip,
  userAgent: headers['user-agent']?.slice(0, 512) ?? null,
});

/** A path of this origin, as a form or an address names it; the other one where it is none. */
export function pathWithin(named: unknown, instead: string): string {
  if (typeof named !== 'string' || named.length > 2_000 || !named.startsWith('/')) return instead;
  // What a browser makes of it: `//host`, `/\host` and control characters lead elsewhere.
  const origin = 'https://muster.invalid';
  const url = URL.canParse(named, origin) ? new URL(named, origin) : undefined;
  return url?.origin === origin ? `${url.pathname}${url.search}${url.hash}` : instead;
}

/** Counts what an address asks for; throws 429. */
export function createThrottle(rate: Rate): (request: FastifyRequest) => Promise<void> {
  const store = createMemoryStore();
  return async ({ ip }) => {
    const quotas = await store.take([{ key: networkOf(ip), rate }]);
    if (quotas.some(({ waitMillis }) => waitMillis > 0))
      throw tooMany('too_many_attempts', retryAfterSeconds(quotas));
  };
}
