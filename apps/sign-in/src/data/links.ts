/**
 * Links by mail. Each is good for a quarter of an hour, once, and in the browser alone that asked for it: there by the link, or
 * by the code that the mail has besides, for people who read it on another device. Of all three secrets only hashes are kept.
 */
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { type Db, newId, sql } from '@muster/database';
import { networkOf } from '@muster/http';
import { hashToken } from '@muster/runtime';

export const linkMinutes = 15;
/** Codes that may be tried, for each link. */
export const mostMisses = 3;
/** Mails to one e-mail address, by requests from one network and from all networks together. */
const mostMails = { quarterHour: 5, day: 20, quarterHourInAll: 20, dayInAll: 60 };

const secretShape = /^[\w-]{43}$/;
const codeShape = /^\d{6}$/;

export interface AskedLink {
  /** What the browser keeps in a cookie. */
  readonly nonce: string;
  /** What the mail has. */
  readonly secret: string;
  readonly code: string;
}

const randomSecret = (): string => randomBytes(32).toString('base64url');
/** With the nonce in it, which the database does not have: there are a million codes alone. */
const hashCode = (nonce: string, code: string): Buffer => createHmac('sha256', nonce).update(code).digest();

/** Fresh secrets of a link that is not asked for yet. */
export const newLink = (): AskedLink => ({
  nonce: randomSecret(),
  secret: randomSecret(),
  code: randomInt(1_000_000).toString().padStart(6, '0'),
});

/**
 * Whether the limit of mails to an e-mail address is reached; unknown addresses count alike. Each network has its own limit, and a
 * network in which the person has signed in before is exempt from the limit of all networks. So a stranger who asks in the name of
 * a person does not keep that person from signing in. Concurrent calls for one address take turns.
 */
export async function areTooMany(db: Db, email: string, ip: string): Promise<boolean> {
  await db.all(sql`select pg_advisory_xact_lock(hashtextextended('links to ' || lower(${email}), 0))`);
  const network = networkOf(ip);
  const sent = await db.one(
    sql<{
      lately: number;
      today: number;
      latelyHere: number;
      todayHere: number;
      isKnownHere: boolean;
    }>`select count(*) filter (where created_at > now() - interval '15 minutes') as lately, count(*) as today,
         count(*) filter (where ip = ${network} and created_at > now() - interval '15 minutes') as "latelyHere",
         count(*) filter (where ip = ${network}) as "todayHere",
         exists (select from sign_in.sessions s join sign_in.accounts a on a.id = s.account_id
           where lower(a.email) = lower(${email}) and s.ip = ${ip}) as "isKnownHere"
       from sign_in.sign_ins where lower(email) = lower(${email}) and created_at > now() - interval '1 day'`,
  );
  if (sent.latelyHere >= mostMails.quarterHour || sent.todayHere >= mostMails.day) return true;
  return !sent.isKnownHere && (sent.lately >= mostMails.quarterHourInAll || sent.today >= mostMails.dayInAll);
}

export async function keepLink(
  db: Db,
  { nonce, secret, code }: AskedLink,
  { email, returnTo, ip }: { readonly email: string; readonly returnTo: string; readonly ip: string },
): Promise<string> {
  const { id } = await db.one(
    sql<{
      id: string;
    }>`insert into sign_in.sign_ins (id, hash, code_hash, nonce_hash, email, return_to, ip, expires_at)
       values (${newId()}, ${hashToken(secret)}, ${hashCode(nonce, code)}, ${hashToken(nonce)}, ${email}, ${returnTo}, ${networkOf(ip)},
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
  code: string,
  nonce: string | undefined,
): Promise<ProvenAddress | undefined> {
  if (nonce === undefined || !codeShape.test(code)) return undefined;
  const row = await db.find(
    sql<ProvenAddress & { fits: boolean }>`update sign_in.sign_ins set
         misses = misses + (code_hash <> ${hashCode(nonce, code)})::int,
         used_at = case when code_hash = ${hashCode(nonce, code)} then now() end
       where nonce_hash = ${hashToken(nonce)} and used_at is null and misses < ${mostMisses} and expires_at > now()
       returning email, return_to as "returnTo", used_at is not null as fits`,
  );
  return row?.fits === true ? { email: row.email, returnTo: row.returnTo } : undefined;
}
