/** Tokens of operators' programs. Each has one product and scopes, and is stored only as a hash. */
import { hash, randomBytes } from 'node:crypto';
import { newId, sql } from '@muster/driver';
import { getProduct, defaultProduct } from './products.ts';
import { type Db, RefusedError } from './transaction.ts';

export const operatorScopes = ['read', 'issue', 'change', 'webhooks', 'publish'] as const;
export type OperatorScope = (typeof operatorScopes)[number];

export interface OperatorToken {
  readonly id: string;
  readonly product: string;
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly isGood: boolean;
}

/** The form of a token. Secret scanners recognize it, and no license key matches it. */
const tokenPattern = /^mlt_[A-Za-z0-9_-]{43}$/;

export const hashToken = (secret: string): Buffer | undefined =>
  tokenPattern.test(secret) ? hash('sha256', secret, 'buffer') : undefined;

const tokenColumnsSql = sql`id, product, name, scopes, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt",
  revoked_at is null and coalesce(expires_at > clock_timestamp(), true) as "isGood"`;

export const listTokens = (db: Db): Promise<OperatorToken[]> =>
  db.all(sql<OperatorToken>`select ${tokenColumnsSql} from licenses.operator_tokens order by id desc`);

export interface NewOperatorToken {
  readonly product?: string | undefined;
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  /** The lifetime of the token; unlimited by default. */
  readonly seconds?: number | undefined;
}

/** Creates a token. Its secret is shown only once. */
export async function makeToken(
  db: Db,
  { product: named = defaultProduct, name, scopes: may, seconds }: NewOperatorToken,
): Promise<{ token: OperatorToken; secret: string }> {
  const { name: product } = await getProduct(db, named);
  const secret = `mlt_${randomBytes(32).toString('base64url')}`;
  const token = await db.one(
    sql<OperatorToken>`insert into licenses.operator_tokens (id, product, name, secret_hash, scopes, expires_at)
      values (${newId()}, ${product}, ${name}, ${hashToken(secret)}, ${may},
        clock_timestamp() + make_interval(secs => ${seconds ?? null}::float8))
      returning ${tokenColumnsSql}`,
  );
  return { token, secret };
}

/** Revokes a token, from the next call on. */
export async function revokeToken(db: Db, id: string): Promise<OperatorToken> {
  const token = await db.find(
    sql<OperatorToken>`update licenses.operator_tokens set revoked_at = coalesce(revoked_at, clock_timestamp())
      where id::text = ${id} returning ${tokenColumnsSql}`,
  );
  if (token === undefined)
    throw new RefusedError('not_found', 'no token has this id (see license token list)');
  return token;
}

const lastUsedUpdateSeconds = 60;

/** Returns the token of a secret and notes its use; undefined if it is unknown, revoked or expired. */
export async function findToken(db: Db, secret: string): Promise<OperatorToken | undefined> {
  const secretHash = hashToken(secret);
  if (secretHash === undefined) return undefined;
  const token = await db.find(
    sql<OperatorToken>`select ${tokenColumnsSql} from licenses.operator_tokens where secret_hash = ${secretHash}`,
  );
  if (token?.isGood !== true) return undefined;
  await recordTokenUse(db, token);
  return token;
}

/** Returns the token of a support session by its ID; undefined if it is revoked or expired. */
export async function findTokenById(db: Db, id: string): Promise<OperatorToken | undefined> {
  const token = await db.find(
    sql<OperatorToken>`select ${tokenColumnsSql} from licenses.operator_tokens where id = ${id}`,
  );
  return token?.isGood === true ? token : undefined;
}

/**
 * Updates the token's time of last use, at most once a minute. Concurrent calls with one token do not wait
 * for each other.
 */
async function recordTokenUse(db: Db, { id, lastUsedAt }: OperatorToken): Promise<void> {
  if (lastUsedAt !== null && Date.now() - Date.parse(lastUsedAt) < lastUsedUpdateSeconds * 1_000) return;
  await db.all(sql`update licenses.operator_tokens set last_used_at = clock_timestamp()
     where id = (select id from licenses.operator_tokens where id = ${id} for no key update skip locked)`);
}
