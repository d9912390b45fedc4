/**
 * Handles the forms of pages that a service renders itself: their fields, their cookies, and the redirects
 * after them.
 */
import { stringifySetCookie } from 'cookie';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { cookieOf, requireSameOrigin, type SessionCookie } from './session-cookie.ts';

/** The fields of a form or of an address's query, one value each. */
export type FormFields = Readonly<Record<string, string>>;

/**
 * Keeps the fields with a single text value. A program may send JSON that no form produces, or a name twice.
 */
const textFieldsOf = (fields: unknown): FormFields =>
  Object.fromEntries(
    Object.entries(fields ?? {}).filter((field): field is [string, string] => typeof field[1] === 'string'),
  );

export const formFieldsOf = ({ body }: FastifyRequest): FormFields => textFieldsOf(body);
export const queryFieldsOf = ({ query }: FastifyRequest): FormFields => textFieldsOf(query);

const maxFormBytes = 16 * 1024;

export function addFormParser(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxFormBytes },
    (_request, text, done) => {
      done(null, Object.fromEntries(new URLSearchParams(text.toString())));
    },
  );
}

/** Checks before the body is read that a form was sent by a page of this origin. Throws 403. */
export const requireOwnPage =
  (cookie: SessionCookie) =>
  async (request: FastifyRequest): Promise<void> => {
    requireSameOrigin(request, cookie);
  };

/**
 * The cookies of a browser by purpose: `session` for the session, and one purpose for each flow that the
 * browser has started.
 */
export interface Cookies<Use extends string> {
  readonly read: (request: FastifyRequest, purpose: Use) => string | undefined;
  readonly set: (reply: FastifyReply, purpose: Use, value: string) => void;
  readonly clear: (reply: FastifyReply, purpose: Use) => void;
}

/**
 * Creates cookies that are sent to this origin only and are hidden from scripts. Pages of other sites cannot
 * cause them to be sent, except by a link to this origin. `seconds` has the lifetime of each purpose. The
 * name of the session cookie has no suffix; all other names end with their purpose.
 */
export function createCookies<Use extends string>(
  { name, isSecure }: SessionCookie,
  lifetimeSeconds: Readonly<Record<Use, number>>,
): Cookies<Use> {
  const nameOf = (what: Use): string => (what === 'session' ? name : `${name}-${what}`);
  const send = (reply: FastifyReply, what: Use, value: string, maxAge: number): void => {
    const cookie = { name: nameOf(what), value, maxAge, path: '/', httpOnly: true };
    void reply.header('set-cookie', stringifySetCookie({ ...cookie, secure: isSecure, sameSite: 'lax' }));
  };
  return {
    read: (request, what) => cookieOf(request, nameOf(what)),
    set: (reply, what, value) => {
      send(reply, what, value, lifetimeSeconds[what]);
    },
    clear: (reply, what) => {
      send(reply, what, '', 0);
    },
  };
}

/**
 * Returns the path in a form field or a query if it stays within this origin. Otherwise returns `instead`.
 */
export function pathWithinOrigin(requestedPath: unknown, fallback: string): string {
  if (typeof requestedPath !== 'string' || requestedPath.length > 2_000 || !requestedPath.startsWith('/'))
    return fallback;
  // Parses the path as a browser does. `//host`, `/\host` and control characters lead to other origins, and
  // `/.//host` becomes `//host`.
  const origin = 'https://muster.invalid';
  const url = URL.canParse(requestedPath, origin) ? new URL(requestedPath, origin) : undefined;
  if (url?.origin !== origin || url.pathname.startsWith('//')) return fallback;
  return `${url.pathname}${url.search}${url.hash}`;
}
