/**
 * Creates and authenticates tokens. A token is `must_<live|test>_`, 32 base-62 symbols (190 bits), and 6
 * symbols of CRC-32. The database stores only the SHA-256. A malformed token causes no SQL. Identity and
 * rights are cached by hash for a minute. The authorization check verifies in every transaction that they
 * still hold, so a revocation takes effect with the next request.
 */
import { hash as digestOf, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BurstError, type Pool } from '@muster/driver';
import { forbidden, unauthorized } from '@muster/contract';
import {
  type EnteringSession,
  identifyToken,
  identifySession,
  type TokenIdentity,
  TokenRightsCache,
  recordTokenUse,
} from '@muster/tenancy';
import { LRUCache } from 'lru-cache';
import { isWellFormedSession, sessionTokenHash } from './sessions.ts';

const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tokenPattern = /^must_(live|test)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

function toBase62(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = (base62Digits[rest % 62] ?? '') + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Creates a secret, which is shown once and never stored. */
export function newTokenSecret(environment: 'live' | 'test' = 'live'): string {
  const random = Array.from({ length: 32 }, () => base62Digits[randomInt(62)] ?? '').join('');
  return `must_${environment}_${random}${toBase62(crc32(random), 6)}`;
}

/** True if the text has the format and the checksum of a token. */
export function isWellFormedToken(text: string): boolean {
  const match = tokenPattern.exec(text);
  return match?.[2] !== undefined && toBase62(crc32(match[2]), 6) === match[3];
}

/**
 * Returns the beginning of a token: `must_live_` and four of 32 random characters. It suffices to recognize
 * the token and does not help to guess it.
 */
export const tokenPrefixOf = (secret: string): string => secret.slice(0, 14);

export const hashToken = (secret: string): Buffer => digestOf('sha256', secret, 'buffer');

export interface AuthenticatedToken {
  readonly identity: TokenIdentity;
  /** The cached rights of the token, kept as long as the identity. */
  readonly rights: TokenRightsCache;
  /** Drops the cached identity after the authorization check found that it no longer holds. */
  readonly evictFromCache: () => void;
  /** Looks up the current identity, since the cached one is outdated. Throws the same 401 as authenticate. */
  readonly reauthenticate: () => Promise<AuthenticatedToken>;
  /**
   * Looks up whether the token is still valid, for a caller that is refused before the authorization check.
   * Throws the same 401 as authenticate.
   */
  readonly verifyStillValid: () => Promise<void>;
}

/** The lifetime of a cached identity in milliseconds, and the maximum number of cached identities. */
const identityCacheMillis = 60_000;
const maxCachedIdentities = 10_000;
/**
 * The interval in which token uses are written in batches, in milliseconds. The use of a token is recorded at
 * most once a minute.
 */
const lastUsedWriteIntervalMillis = 10_000;

/** Wraps each database lookup of a token that is not cached. It may refuse the lookup. */
export type LookUpWrapper = <Found>(lookUp: () => Promise<Found | undefined>) => Promise<Found | undefined>;

/** Throws 403 if the policy requires a sign-in method, such as a passkey, that the session was not opened with. */
const identifyBySession = async (
  pool: Pool,
  session: EnteringSession,
): Promise<TokenIdentity | undefined> => {
  try {
    return await identifySession(pool, session);
  } catch (error) {
    if (!(error instanceof BurstError && error.sqlState === 'MU403')) throw error;
    throw forbidden('required_proof', undefined, { at: `/sign-in?organization=${session.orgId}` });
  }
};

type LookUpIdentity = () => Promise<TokenIdentity | undefined>;
const lookUpWithoutWrapper: LookUpWrapper = (look) => look();

export interface Authenticator {
  /** Authenticates the token in `Authorization: Bearer <secret>`. Throws the same 401 for every reason. */
  readonly authenticate: (secret: string, wrapLookUp?: LookUpWrapper) => Promise<AuthenticatedToken>;
  /** Authenticates the session of a cookie in the given organization. Throws the same 401 for every reason. */
  readonly authenticateSession: (
    secret: string,
    orgId: string,
    wrapLookUp?: LookUpWrapper,
  ) => Promise<AuthenticatedToken>;
  /** Stores the times of use that are not yet in the database, and stops the timer that stores them. */
  readonly close: () => Promise<void>;
}

type CachedToken = Pick<AuthenticatedToken, 'identity' | 'rights'>;

export function createAuthenticator(pool: Pool): Authenticator {
  const remembered = new LRUCache<string, CachedToken>({
    max: maxCachedIdentities,
    ttl: identityCacheMillis,
  });
  const touched = new LRUCache<string, true>({ max: maxCachedIdentities, ttl: identityCacheMillis });
  let used = new Map<string, TokenIdentity>();

  const touch = async (): Promise<void> => {
    if (used.size === 0) return;
    const tokens = [...used.values()];
    used = new Map();
    await recordTokenUse(
      pool,
      tokens.sort((a, b) => Buffer.compare(a.tokenHash, b.tokenHash)),
    );
  };
  // A failed write is dropped: last_used_at is only a hint, and the next use is recorded again.
  const timer = setInterval(() => void touch().catch(() => undefined), lastUsedWriteIntervalMillis).unref();

  const note = (key: string, identity: TokenIdentity): void => {
    if (touched.has(key)) return;
    touched.set(key, true);
    used.set(key, identity);
  };

  const find = async (
    hash: Buffer,
    look: LookUpIdentity,
    around: LookUpWrapper,
  ): Promise<AuthenticatedToken> => {
    const key = hash.toString('base64');
    let known = remembered.get(key);
    if (known === undefined) {
      const identity = await around(look);
      if (identity === undefined) throw unauthorized();
      known = { identity, rights: new TokenRightsCache(identity) };
      remembered.set(key, known);
    }
    const { identity, rights } = known;
    note(key, identity);
    const forget = (): void => {
      if (remembered.peek(key)?.identity === identity) remembered.delete(key);
    };
    return {
      ...{ identity, rights, evictFromCache: forget },
      reauthenticate: () => {
        forget();
        return find(hash, look, lookUpWithoutWrapper);
      },
      verifyStillValid: async () => {
        if ((await look()) !== undefined) return;
        forget();
        throw unauthorized();
      },
    };
  };

  return {
    authenticate: async (secret, around = lookUpWithoutWrapper) => {
      if (!isWellFormedToken(secret)) throw unauthorized();
      const hash = hashToken(secret);
      return find(hash, () => identifyToken(pool, hash), around);
    },
    authenticateSession: async (secret, orgId, around = lookUpWithoutWrapper) => {
      if (!isWellFormedSession(secret)) throw unauthorized();
      const tokenHash = sessionTokenHash(secret, orgId);
      const entering = { sessionHash: hashToken(secret), orgId, tokenHash };
      return find(tokenHash, () => identifyBySession(pool, entering), around);
    },
    close: async () => {
      clearInterval(timer);
      await touch().catch(() => undefined);
    },
  };
}
