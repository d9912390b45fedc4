/** Sessions of the support pages. Without an issuer of the operators, the holder of a token may sign in. */
import { hash, randomBytes } from 'node:crypto';
import { newId, sql } from '@muster/driver';
import { type IssuerPerson, grantedScopesByProduct } from './grants.ts';
import { type OperatorToken, type OperatorScope, findTokenById } from './tokens.ts';
import { type Db, RefusedError } from './transaction.ts';

/** The maximum lifetime of a session: a working day. */
export const maxSessionSeconds = 8 * 3_600;
export const idleTimeoutSeconds = 3_600;
const lastSeenUpdateSeconds = 60;
const sessionRetentionDays = 30;
const deleteBatchSize = 500;

const sessionSecretPattern = /^[A-Za-z0-9_-]{43}$/;
const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

export interface OperatorBrowser {
  readonly ip: string;
  readonly userAgent: string | null;
  /** The secret of the browser's previous session. That session ends when the new one begins. */
  readonly previousSecret: string | undefined;
}

/** The holder of a session: the owner of a token, or a person. For a person, the trail records `name`. */
export type SessionHolder =
  | { readonly token: OperatorToken }
  | { readonly person: IssuerPerson; readonly name: string };

/** Starts a session, ends the previous one of the browser, and returns the new secret. */
export async function beginSession(db: Db, holder: SessionHolder, browser: OperatorBrowser): Promise<string> {
  if (browser.previousSecret !== undefined) await endSession(db, browser.previousSecret);
  const secret = randomBytes(32).toString('base64url');
  const { tokenId, person, name } =
    'token' in holder
      ? { tokenId: holder.token.id, person: undefined, name: holder.token.name }
      : { tokenId: null, ...holder };
  await db.all(
    sql`insert into licenses.operator_sessions
        (id, secret_hash, token_id, issuer, subject, name, claims, ip, user_agent, expires_at)
      values (${newId()}, ${hashSecret(secret)}, ${tokenId}, ${person?.issuer ?? null}, ${person?.subject ?? null},
        ${name}, ${person?.claims ?? []}, ${browser.ip}, ${browser.userAgent},
        clock_timestamp() + make_interval(secs => ${maxSessionSeconds}::float8))`,
  );
  return secret;
}

/** A signed-in member of support with their rights. */
export interface SupportPerson {
  readonly name: string;
  /** The name of the actor as the trail records it. */
  readonly actor: string;
  /** The scopes by product. Each product is at least readable. */
  readonly scopesByProduct: ReadonlyMap<string, readonly OperatorScope[]>;
}

const isSessionActiveSql = sql`ended_at is null and expires_at > clock_timestamp()
  and last_seen_at > clock_timestamp() - make_interval(secs => ${idleTimeoutSeconds})`;

interface SessionRow {
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
): Promise<SupportPerson | undefined> {
  if (secret === undefined || !sessionSecretPattern.test(secret)) return undefined;
  const row = await db.find(
    sql<SessionRow>`select id, name, token_id as "tokenId", issuer, subject, claims, last_seen_at as "lastSeenAt"
      from licenses.operator_sessions
      where secret_hash = ${hashSecret(secret)} and issuer is not distinct from ${issuer ?? null}::text and ${isSessionActiveSql}`,
  );
  if (row === undefined) return undefined;
  const rights = await scopesOfSession(db, row);
  if (rights.size === 0) return undefined;
  // Updates the session's time of last use, at most once a minute.
  if (Date.now() - Date.parse(row.lastSeenAt) > lastSeenUpdateSeconds * 1_000)
    await db.all(
      sql`update licenses.operator_sessions set last_seen_at = clock_timestamp() where id = ${row.id}`,
    );
  return {
    name: row.name,
    actor: `${row.tokenId === null ? 'person' : 'token'} ${row.name}`,
    scopesByProduct: rights,
  };
}

async function scopesOfSession(
  db: Db,
  { tokenId, issuer, subject, claims }: SessionRow,
): Promise<ReadonlyMap<string, readonly OperatorScope[]>> {
  if (issuer !== null && subject !== null) return grantedScopesByProduct(db, { issuer, subject, claims });
  const token = tokenId === null ? undefined : await findTokenById(db, tokenId);
  return token?.scopes.includes('read') === true ? new Map([[token.product, token.scopes]]) : new Map();
}

export async function endSession(db: Db, secret: string): Promise<void> {
  await db.all(
    sql`update licenses.operator_sessions set ended_at = clock_timestamp()
      where secret_hash = ${hashSecret(secret)} and ended_at is null`,
  );
}

export interface OperatorSession {
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

const sessionColumnsSql = sql`id, name, case when token_id is null then 'issuer' else 'token' end as by, ip, user_agent as "userAgent",
  created_at as "createdAt", last_seen_at as "lastSeenAt", expires_at as "expiresAt", ${isSessionActiveSql} as "isGood"`;

/** Lists the active sessions, the newest first. With `isAll` also lists ended ones that are not deleted yet. */
export const listSessions = (db: Db, includeEnded: boolean): Promise<OperatorSession[]> =>
  db.all(
    sql<OperatorSession>`select ${sessionColumnsSql} from licenses.operator_sessions
      ${includeEnded ? sql`` : sql`where ${isSessionActiveSql}`} order by id desc`,
  );

/** Revokes a session, from the next request on. */
export async function revokeSession(db: Db, id: string): Promise<OperatorSession> {
  const session = await db.find(
    sql<OperatorSession>`update licenses.operator_sessions set ended_at = coalesce(ended_at, clock_timestamp())
      where id::text = ${id} returning ${sessionColumnsSql}`,
  );
  if (session === undefined)
    throw new RefusedError('not_found', 'no session has this id (see license session list)');
  return session;
}

/** Revokes all active sessions and returns their number. */
export const revokeAllSessions = async (db: Db): Promise<number> =>
  (
    await db.all(
      sql`update licenses.operator_sessions set ended_at = clock_timestamp() where ${isSessionActiveSql} returning id`,
    )
  ).length;

/** Stores the state of a sign-in that has begun. Returns the nonce for the cookie of the browser. */
export async function storeSignInFlow(db: Db, payload: object, lifetimeSeconds: number): Promise<string> {
  const nonce = randomBytes(32).toString('base64url');
  await db.all(sql`insert into licenses.operator_flows (hash, payload, expires_at)
     values (${hashSecret(nonce)}, ${payload}, clock_timestamp() + make_interval(secs => ${lifetimeSeconds}::float8))`);
  return nonce;
}

/** Removes and returns the state of a sign-in; undefined if it is unknown or expired. */
export async function takeSignInFlow<Payload>(
  db: Db,
  nonce: string | undefined,
): Promise<Payload | undefined> {
  if (nonce === undefined) return undefined;
  const row = await db.find(
    sql<{
      payload: Payload;
    }>`delete from licenses.operator_flows
      where hash = ${hashSecret(nonce)} and expires_at > clock_timestamp() returning payload`,
  );
  return row?.payload;
}

/** Deletes a batch of long expired sessions and abandoned sign-ins. Returns true if more may remain. */
export async function deleteExpiredSessions(db: Db): Promise<boolean> {
  const sessions = await db.all(sql`delete from licenses.operator_sessions where id in (
       select id from licenses.operator_sessions
       where expires_at < clock_timestamp() - make_interval(days => ${sessionRetentionDays}) order by expires_at limit ${deleteBatchSize})
     returning 1`);
  const flows = await db.all(sql`delete from licenses.operator_flows where hash in (
       select hash from licenses.operator_flows where expires_at < clock_timestamp() order by expires_at limit ${deleteBatchSize})
     returning 1`);
  return sessions.length === deleteBatchSize || flows.length === deleteBatchSize;
}
