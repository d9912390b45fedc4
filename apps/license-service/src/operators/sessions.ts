/** Sessions of the support pages. Without an issuer of the operators, the holder of a token may sign in. */
import { hash, randomBytes } from 'node:crypto';
import { newId, sql } from '@muster/driver';
import { type IssuerPerson, rightsOf } from './grants.ts';
import { type OperatorToken, type OperatorScope, tokenOfId } from './tokens.ts';
import { type Db, Refused } from './transaction.ts';

/** The maximum lifetime of a session: a working day. */
export const sessionSeconds = 8 * 3_600;
export const idleSeconds = 3_600;
const seenAgainSeconds = 60;
const keptDays = 30;
const atOnce = 500;

const form = /^[A-Za-z0-9_-]{43}$/;
const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

export interface OperatorBrowser {
  readonly ip: string;
  readonly userAgent: string | null;
  /** The secret of the browser's previous session. That session ends when the new one begins. */
  readonly before: string | undefined;
}

/** The holder of a session: the owner of a token, or a person. For a person, the trail records `name`. */
export type SessionHolder =
  | { readonly token: OperatorToken }
  | { readonly person: IssuerPerson; readonly name: string };

/** Starts a session, ends the previous one of the browser, and returns the new secret. */
export async function beginSession(db: Db, who: SessionHolder, browser: OperatorBrowser): Promise<string> {
  if (browser.before !== undefined) await endSession(db, browser.before);
  const secret = randomBytes(32).toString('base64url');
  const { tokenId, person, name } =
    'token' in who
      ? { tokenId: who.token.id, person: undefined, name: who.token.name }
      : { tokenId: null, ...who };
  await db.all(
    sql`insert into licenses.operator_sessions
        (id, secret_hash, token_id, issuer, subject, name, claims, ip, user_agent, expires_at)
      values (${newId()}, ${hashOf(secret)}, ${tokenId}, ${person?.issuer ?? null}, ${person?.subject ?? null},
        ${name}, ${person?.claims ?? []}, ${browser.ip}, ${browser.userAgent},
        clock_timestamp() + make_interval(secs => ${sessionSeconds}::float8))`,
  );
  return secret;
}

/** A signed-in member of support with their rights. */
export interface Supporter {
  readonly name: string;
  /** The name of the actor as the trail records it. */
  readonly actor: string;
  /** The scopes by product. Each product is at least readable. */
  readonly rights: ReadonlyMap<string, readonly OperatorScope[]>;
}

const lasts = sql`ended_at is null and expires_at > clock_timestamp()
  and last_seen_at > clock_timestamp() - make_interval(secs => ${idleSeconds})`;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly tokenId: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly claims: readonly string[];
  readonly lastSeenAt: string;
}

/**
 * Returns the holder of a session secret; undefined if the session is unknown or over, or its holder has no rights.
 * `issuer` is the operators' current issuer. A session counts only if that issuer started it. Without an issuer, only
 * sessions by token count.
 */
export async function findSession(
  db: Db,
  secret: string | undefined,
  issuer: string | undefined,
): Promise<Supporter | undefined> {
  if (secret === undefined || !form.test(secret)) return undefined;
  const row = await db.find(
    sql<Row>`select id, name, token_id as "tokenId", issuer, subject, claims, last_seen_at as "lastSeenAt"
      from licenses.operator_sessions
      where secret_hash = ${hashOf(secret)} and issuer is not distinct from ${issuer ?? null}::text and ${lasts}`,
  );
  if (row === undefined) return undefined;
  const rights = await rightsIn(db, row);
  if (rights.size === 0) return undefined;
  // Updates the session's time of last use, at most once a minute.
  if (Date.now() - Date.parse(row.lastSeenAt) > seenAgainSeconds * 1_000)
    await db.all(
      sql`update licenses.operator_sessions set last_seen_at = clock_timestamp() where id = ${row.id}`,
    );
  return { name: row.name, actor: `${row.tokenId === null ? 'person' : 'token'} ${row.name}`, rights };
}

async function rightsIn(
  db: Db,
  { tokenId, issuer, subject, claims }: Row,
): Promise<ReadonlyMap<string, readonly OperatorScope[]>> {
  if (issuer !== null && subject !== null) return rightsOf(db, { issuer, subject, claims });
  const token = tokenId === null ? undefined : await tokenOfId(db, tokenId);
  return token?.scopes.includes('read') === true ? new Map([[token.product, token.scopes]]) : new Map();
}

export async function endSession(db: Db, secret: string): Promise<void> {
  await db.all(
    sql`update licenses.operator_sessions set ended_at = clock_timestamp()
      where secret_hash = ${hashOf(secret)} and ended_at is null`,
  );
}

export interface ShownSession {
  readonly id: string;
  readonly name: string;
  readonly by: 'issuer' | 'token';
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly expiresAt: string;
  readonly isGood: boolean;
}

const columns = sql`id, name, case when token_id is null then 'issuer' else 'token' end as by, ip, user_agent as "userAgent",
  created_at as "createdAt", last_seen_at as "lastSeenAt", expires_at as "expiresAt", ${lasts} as "isGood"`;

/** Lists the active sessions, the newest first. With `isAll` also lists ended ones that are not deleted yet. */
export const listSessions = (db: Db, isAll: boolean): Promise<ShownSession[]> =>
  db.all(
    sql<ShownSession>`select ${columns} from licenses.operator_sessions
      ${isAll ? sql`` : sql`where ${lasts}`} order by id desc`,
  );

/** Revokes a session, from the next request on. */
export async function revokeSession(db: Db, id: string): Promise<ShownSession> {
  const session = await db.find(
    sql<ShownSession>`update licenses.operator_sessions set ended_at = coalesce(ended_at, clock_timestamp())
      where id::text = ${id} returning ${columns}`,
  );
  if (session === undefined)
    throw new Refused('not_found', 'no session has this id (see license session list)');
  return session;
}

/** Revokes all active sessions and returns their number. */
export const revokeAllSessions = async (db: Db): Promise<number> =>
  (
    await db.all(
      sql`update licenses.operator_sessions set ended_at = clock_timestamp() where ${lasts} returning id`,
    )
  ).length;

/** Stores the state of a sign-in that has begun. Returns the nonce for the cookie of the browser. */
export async function beginFlow(db: Db, payload: object, seconds: number): Promise<string> {
  const nonce = randomBytes(32).toString('base64url');
  await db.all(sql`insert into licenses.operator_flows (hash, payload, expires_at)
     values (${hashOf(nonce)}, ${payload}, clock_timestamp() + make_interval(secs => ${seconds}::float8))`);
  return nonce;
}

/** Removes and returns the state of a sign-in; undefined if it is unknown or expired. */
export async function endFlow<Payload>(db: Db, nonce: string | undefined): Promise<Payload | undefined> {
  if (nonce === undefined) return undefined;
  const row = await db.find(
    sql<{
      payload: Payload;
    }>`delete from licenses.operator_flows
      where hash = ${hashOf(nonce)} and expires_at > clock_timestamp() returning payload`,
  );
  return row?.payload;
}

/** Deletes a batch of long expired sessions and abandoned sign-ins. Returns true if more may remain. */
export async function forgetSessions(db: Db): Promise<boolean> {
  const sessions = await db.all(sql`delete from licenses.operator_sessions where id in (
       select id from licenses.operator_sessions
       where expires_at < clock_timestamp() - make_interval(days => ${keptDays}) order by expires_at limit ${atOnce})
     returning 1`);
  const flows = await db.all(sql`delete from licenses.operator_flows where hash in (
       select hash from licenses.operator_flows where expires_at < clock_timestamp() order by expires_at limit ${atOnce})
     returning 1`);
  return sessions.length === atOnce || flows.length === atOnce;
}
