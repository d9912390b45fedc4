/** Forms of pages that a service makes by itself: what they send, their cookies, and where people go next. */
import { stringifySetCookie } from 'cookie';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { cookieOf, requireSameOrigin, type SessionCookie } from './session-cookie.ts';

/** Of a form, or of the query of an address; each field once. */
export type Form = Readonly<Record<string, string>>;

/** Those that are one text: a program may send as JSON what no form has, and a name twice. */
const textsOf = (fields: unknown): Form =>
  Object.fromEntries(
    Object.entries(fields ?? {}).filter((field): field is [string, string] => typeof field[1] === 'string'),
  );

export const formOf = ({ body }: FastifyRequest): Form => textsOf(body);
export const queryOf = ({ query }: FastifyRequest): Form => textsOf(query);

const mostFormBytes = 16 * 1024;

export function takeForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: mostFormBytes },
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

/** The cookies of a browser by what they are for: `session`, and what the browser is in the middle of. */
export interface Cookies<Use extends string> {
  readonly read: (request: FastifyRequest, what: Use) => string | undefined;
  readonly set: (reply: FastifyReply, what: Use, value: string) => void;
  readonly clear: (reply: FastifyReply, what: Use) => void;
}

/**
 * Sent to this origin alone, kept from scripts, and not sent along by pages of other sites but by a link to here. Each use has
 * its seconds; those besides the session end their name with the use.
 */
export function cookiesOf<Use extends string>(
  { name, isSecure }: SessionCookie,
  seconds: Readonly<Record<Use, number>>,
): Cookies<Use> {
  const nameOf = (what: Use): string => (what === 'session' ? name : `${name}-${what}`);
  const send = (reply: FastifyReply, what: Use, value: string, maxAge: number): void => {
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

/** A path of this origin, as a form or an address names it; the other one where it is none. */
export function pathWithin(named: unknown, instead: string): string {
  if (typeof named !== 'string' || named.length > 2_000 || !named.startsWith('/')) return instead;
  // What a browser makes of it: `//host`, `/\host` and control characters lead elsewhere, and `/.//host` is `//host` by then.
  const origin = 'https://muster.invalid';
  const url = URL.canParse(named, origin) ? new URL(named, origin) : undefined;
  if (url?.origin !== origin || url.pathname.startsWith('//')) return instead;
  return `${url.pathname}${url.search}${url.hash}`;
}
