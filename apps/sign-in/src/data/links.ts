/**
 * Links by mail. Each is good for a quarter of an hour, once, and in the browser alone that asked for it: there by the link, or
 * by the code that the mail has besides, for people who read it on another device. Of all three secrets only hashes are kept.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { type Db, newId, sql } from '@muster/driver';
import { networkOf } from '@muster/http';
import { hashToken } from '@muster/runtime';
import { newCode } from './typed-codes.ts';

export const linkMinutes = 15;
/** Codes that may be tried, for each link. */
export const mostMisses = 3;
/** Mails to one e-mail address from one source: a network, or all browsers in which its person signed in before. */
const mostMails = { quarterHour: 5, day: 20 };
/** Mails to one e-mail address in a day, from all networks in which its person has no session. */
const mostByStrangers = 20;
const knownBrowsers = 'known browsers';

const secretShape = /^[\w-]{43}$/;

export interface AskedLink {
  /** What the browser keeps in a cookie. */
  readonly nonce: string;
  /** What the mail has. */
  readonly secret: string;
  readonly code: string;
}

const randomSecret = (): string => randomBytes(32).toString('base64url');
/** With the nonce in it, which the database does not have: a code alone could be guessed from its hash. */
const hashCode = (nonce: string, code: string): Buffer => createHmac('sha256', nonce).update(code).digest();

/** Fresh secrets of a link that is not asked for yet. */
export const newLink = (): AskedLink => ({
  nonce: randomSecret(),
  secret: randomSecret(),
  code: newCode(),
});

/** The sender of a request for a link. */
interface Asker {
  readonly ip: string;
  /** The secret of the last session in that browser. */
  readonly known: string | undefined;
}

/**
 * The source of a request for a link, by which mails are counted; null where the limit of mails to the e-mail address is
 * reached. Unknown addresses count alike. A stranger who asks in the name of a person keeps that person from signing in neither
 * in a browser in which they signed in before, nor in another network in which they have a session. Concurrent calls for one
 * address take turns.
 */
export async function sourceOf(db: Db, email: string, { ip, known }: Asker): Promise<string | null> {
  const [, sessions, sent] = await Promise.all([
    db.all(sql`select pg_advisory_xact_lock(hashtextextended('links to ' || lower(${email}), 0))`),
    db.all(sql<{
      ip: string | null;
      isOpen: boolean;
      isInBrowser: boolean;
    }>`select s.ip, s.revoked_at is null and s.expires_at > now() as "isOpen",
         s.hash = ${hashToken(known ?? '')} as "isInBrowser"
       from sign_in.sessions s join sign_in.accounts a on a.id = s.account_id where lower(a.email) = lower(${email})`),
    db.all(sql<{
      source: string | null;
      lately: number;
      today: number;
    }>`select ip as source, count(*) filter (where created_at > now() - interval '15 minutes')::integer as lately, count(*)::integer as today
       from sign_in.sign_ins where lower(email) = lower(${email}) and created_at > now() - interval '1 day' group by ip`),
  ]);
  const networks = sessions.filter(({ isOpen }) => isOpen).map((session) => networkOf(session.ip ?? ''));
  const trusted = new Set<string | null>([knownBrowsers, ...networks]);
  const source = sessions.some(({ isInBrowser }) => isInBrowser) ? knownBrowsers : networkOf(ip);
  const own = sent.find((one) => one.source === source);
  if (own !== undefined && (own.lately >= mostMails.quarterHour || own.today >= mostMails.day)) return null;
  if (trusted.has(source)) return source;
  const byStrangers = sent
    .filter((one) => !trusted.has(one.source))
    .reduce((sum, { today }) => sum + today, 0);
  return byStrangers < mostByStrangers ? source : null;
}

export async function keepLink(
  db: Db,
  { nonce, secret, code }: AskedLink,
  { email, returnTo, source }: { readonly email: string; readonly returnTo: string; readonly source: string },
): Promise<string> {
  const { id } = await db.one(
    sql<{
      id: string;
    }>`insert into sign_in.sign_ins (id, hash, code_hash, nonce_hash, email, return_to, ip, expires_at)
       values (${newId()}, ${hashToken(secret)}, ${hashCode(nonce, code)}, ${hashToken(nonce)}, ${email}, ${returnTo}, ${source},
         now() + make_interval(mins => ${linkMinutes})) returning id`,
  );
  return id;
}

export interface ProvenAddress {
  readonly email: string;
  readonly returnTo: string;
}

/** Whether a link can be used, and here. */
export type LinkState = 'here' | 'elsewhere' | 'over';

export async function lookAtLink(db: Db, secret: string, nonce: string | undefined): Promise<LinkState> {
  if (!secretShape.test(secret)) return 'over';
  const row = await db.find(
    sql<{ isHere: boolean }>`select nonce_hash = ${hashToken(nonce ?? '')} as "isHere" from sign_in.sign_ins
       where hash = ${hashToken(secret)} and used_at is null and misses < ${mostMisses} and expires_at > now()`,
  );
  if (row === undefined) return 'over';
  return row.isHere ? 'here' : 'elsewhere';
}

/** Uses a link up; undefined where it was used, is over, or another browser asked for it. */
export async function useLink(
  db: Db,
  secret: string,
  nonce: string | undefined,
): Promise<ProvenAddress | undefined> {
  if (nonce === undefined || !secretShape.test(secret)) return undefined;
  return db.find(
    sql<ProvenAddress>`update sign_in.sign_ins set used_at = now()
       where hash = ${hashToken(secret)} and nonce_hash = ${hashToken(nonce)} and used_at is null
         and misses < ${mostMisses} and expires_at > now()
       returning email, return_to as "returnTo"`,
  );
}

/** Uses a link up by its code; undefined where the code is wrong, which counts, or the link is over. */
export async function useCode(
  db: Db,
  code: string | undefined,
  nonce: string | undefined,
): Promise<ProvenAddress | undefined> {
  if (nonce === undefined || code === undefined) return undefined;
  const row = await db.find(
    sql<ProvenAddress & { fits: boolean }>`update sign_in.sign_ins set
         misses = misses + (code_hash <> ${hashCode(nonce, code)})::int,
         used_at = case when code_hash = ${hashCode(nonce, code)} then now() end
       where nonce_hash = ${hashToken(nonce)} and used_at is null and misses < ${mostMisses} and expires_at > now()
       returning email, return_to as "returnTo", used_at is not null as fits`,
  );
  return row?.fits === true ? { email: row.email, returnTo: row.returnTo } : undefined;
}
