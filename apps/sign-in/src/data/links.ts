/**
 * Sign-in links sent by e-mail. A link works for 15 minutes, once, and only in the browser that requested it.
 * People who read the e-mail on another device type its code in that browser. Only hashes of the three
 * secrets are stored.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { type Db, newId, sql } from '@muster/driver';
import { networkOf } from '@muster/http';
import { hashToken } from '@muster/runtime';
import { generateCode } from './typed-codes.ts';

export const linkLifetimeMinutes = 15;
/** Maximum number of wrong codes per link. */
export const maxWrongCodes = 3;
/**
 * Limits of e-mails to an address from one source: a network, or all browsers in which the person has signed
 * in before.
 */
const maxEmailsPerSource = { quarterHour: 5, day: 20 };
/** Limit of e-mails to an address per day, from all networks in which the person has no session. */
const maxEmailsFromStrangers = 20;
const knownBrowsersSource = 'known browsers';

const secretPattern = /^[\w-]{43}$/;

export interface LinkSecrets {
  /** The secret in the browser's cookie. */
  readonly nonce: string;
  /** The secret in the e-mail's link. */
  readonly secret: string;
  readonly code: string;
}

const randomSecret = (): string => randomBytes(32).toString('base64url');
/**
 * Hashes a code with the nonce as key. The database does not have the nonce; without it, the code could be
 * guessed from its hash.
 */
const hashCode = (nonce: string, code: string): Buffer => createHmac('sha256', nonce).update(code).digest();

/** Creates the secrets of a new link. */
export const createLinkSecrets = (): LinkSecrets => ({
  nonce: randomSecret(),
  secret: randomSecret(),
  code: generateCode(),
});

/** The data that identifies the source of a request for a link. */
interface LinkRequester {
  readonly ip: string;
  /** The secret of the last session in the browser that sends the request. */
  readonly lastSessionSecret: string | undefined;
}

/**
 * Returns the source of a request for a link; null if the address has reached its limit. E-mails to an
 * address are counted per source, also for unknown addresses. Browsers in which a person signed in before,
 * and networks in which they have a session, are separate sources. Requests by strangers therefore do not
 * keep the person from signing in. An advisory lock serializes calls for an address.
 */
export async function linkRequestSourceOf(
  db: Db,
  email: string,
  { ip, lastSessionSecret }: LinkRequester,
): Promise<string | null> {
  const [, sessions, sent] = await Promise.all([
    db.all(sql`select pg_advisory_xact_lock(hashtextextended('links to ' || lower(${email}), 0))`),
    db.all(sql<{
      ip: string | null;
      isOpen: boolean;
      isInBrowser: boolean;
    }>`select s.ip, s.revoked_at is null and s.expires_at > now() as "isOpen",
         s.hash = ${hashToken(lastSessionSecret ?? '')} as "isInBrowser"
       from sign_in.sessions s join sign_in.accounts a on a.id = s.account_id where lower(a.email) = lower(${email})`),
    db.all(sql<{
      source: string | null;
      lately: number;
      today: number;
    }>`select ip as source, count(*) filter (where created_at > now() - interval '15 minutes')::integer as lately, count(*)::integer as today
       from sign_in.sign_ins where lower(email) = lower(${email}) and created_at > now() - interval '1 day' group by ip`),
  ]);
  const networks = sessions.filter(({ isOpen }) => isOpen).map((session) => networkOf(session.ip ?? ''));
  const trusted = new Set<string | null>([knownBrowsersSource, ...networks]);
  const source = sessions.some(({ isInBrowser }) => isInBrowser) ? knownBrowsersSource : networkOf(ip);
  const own = sent.find((one) => one.source === source);
  if (
    own !== undefined &&
    (own.lately >= maxEmailsPerSource.quarterHour || own.today >= maxEmailsPerSource.day)
  )
    return null;
  if (trusted.has(source)) return source;
  const byStrangers = sent
    .filter((one) => !trusted.has(one.source))
    .reduce((sum, { today }) => sum + today, 0);
  return byStrangers < maxEmailsFromStrangers ? source : null;
}

export async function storeLink(
  db: Db,
  { nonce, secret, code }: LinkSecrets,
  { email, returnTo, source }: { readonly email: string; readonly returnTo: string; readonly source: string },
): Promise<string> {
  const { id } = await db.one(
    sql<{
      id: string;
    }>`insert into sign_in.sign_ins (id, hash, code_hash, nonce_hash, email, return_to, ip, expires_at)
       values (${newId()}, ${hashToken(secret)}, ${hashCode(nonce, code)}, ${hashToken(nonce)}, ${email}, ${returnTo}, ${source},
         now() + make_interval(mins => ${linkLifetimeMinutes})) returning id`,
  );
  return id;
}

export interface ConfirmedAddress {
  readonly email: string;
  readonly returnTo: string;
}

/** The state of a link: usable in this browser, usable in another browser, or unusable. */
export type LinkState = 'here' | 'elsewhere' | 'over';

export async function readLinkState(db: Db, secret: string, nonce: string | undefined): Promise<LinkState> {
  if (!secretPattern.test(secret)) return 'over';
  const row = await db.find(
    sql<{ isHere: boolean }>`select nonce_hash = ${hashToken(nonce ?? '')} as "isHere" from sign_in.sign_ins
       where hash = ${hashToken(secret)} and used_at is null and misses < ${maxWrongCodes} and expires_at > now()`,
  );
  if (row === undefined) return 'over';
  return row.isHere ? 'here' : 'elsewhere';
}

/** Redeems a link; undefined if it was used, has expired, or was requested in another browser. */
export async function redeemLink(
  db: Db,
  secret: string,
  nonce: string | undefined,
): Promise<ConfirmedAddress | undefined> {
  if (nonce === undefined || !secretPattern.test(secret)) return undefined;
  return db.find(
    sql<ConfirmedAddress>`update sign_in.sign_ins set used_at = now()
       where hash = ${hashToken(secret)} and nonce_hash = ${hashToken(nonce)} and used_at is null
         and misses < ${maxWrongCodes} and expires_at > now()
       returning email, return_to as "returnTo"`,
  );
}

/** Redeems a link by its code; undefined if the code is wrong, which is counted, or the link has expired. */
export async function redeemCode(
  db: Db,
  code: string | undefined,
  nonce: string | undefined,
): Promise<ConfirmedAddress | undefined> {
  if (nonce === undefined || code === undefined) return undefined;
  const row = await db.find(
    sql<ConfirmedAddress & { fits: boolean }>`update sign_in.sign_ins set
         misses = misses + (code_hash <> ${hashCode(nonce, code)})::int,
         used_at = case when code_hash = ${hashCode(nonce, code)} then now() end
       where nonce_hash = ${hashToken(nonce)} and used_at is null and misses < ${maxWrongCodes} and expires_at > now()
       returning email, return_to as "returnTo", used_at is not null as fits`,
  );
  return row?.fits === true ? { email: row.email, returnTo: row.returnTo } : undefined;
}
