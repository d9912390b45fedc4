/**
 * Tokens: `must_<live|test>_`, 32 base-62 symbols (190 bits), 6 of CRC-32. At rest only SHA-256. A malformed one
 * costs no SQL. Identity and rights are remembered for a minute by hash; the door checks in every transaction that they
 * are still those, so a revocation holds from the next request on.
 */
import { hash as digestOf, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BurstError, type Pool } from '@muster/driver';
import { forbidden, unauthorized } from '@muster/registry';
import {
  type EnteringSession,
  identify,
  identifySession,
  type Identity,
  RememberedRights,
  touchTokens,
} from '@muster/tenancy';
import { LRUCache } from 'lru-cache';
import { isWellFormedSession, sessionTokenHash } from './sessions.ts';

const symbols = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^must_(live|test)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

function base62(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = (symbols[rest % 62] ?? '') + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** A fresh secret; shown once and never stored. */
export function newTokenSecret(environment: 'live' | 'test' = 'live'): string {
  const random = Array.from({ length: 32 }, () => symbols[randomInt(62)] ?? '').join('');
  return `must_${environment}_${random}${base62(crc32(random), 6)}`;
}

/** Whether the text can be a token at all: right shape and checksum. */
export function isWellFormedToken(text: string): boolean {
  const match = shape.exec(text);
  return match?.[2] !== undefined && base62(crc32(match[2]), 6) === match[3];
}

/** How it begins, `must_live_` and four of 32 random characters: enough to know it again, and nothing to go on. */
export const tokenPrefixOf = (secret: string): string => secret.slice(0, 14);

export const hashToken = (secret: string): Buffer => digestOf('sha256', secret, 'buffer');

export interface AuthenticatedToken {
  readonly identity: Identity;
  /** What the door answered of its rights, as long as the identity is remembered. */
  readonly rights: RememberedRights;
  /** Drops what is remembered: the door found that it no longer holds. */
  readonly forget: () => void;
  /** Who it is now, since what is remembered is of before. Throws the same 401 as authenticate. */
  readonly renew: () => Promise<AuthenticatedToken>;
  /** For a caller that is refused before the door: looks whether it still holds. Throws the same 401 as authenticate. */
  readonly confirm: () => Promise<void>;
}

/** How long an identity is remembered, and how many at most. */
const rememberMillis = 60_000;
const mostRemembered = 10_000;
/** Use is noted at most once a minute per token, in batches. */
const touchMillis = 10_000;

/** Around each look into the database for a token that is not remembered; it may refuse to look. */
export type AroundLookUp = <Found>(look: () => Promise<Found | undefined>) => Promise<Found | undefined>;

/** Throws 403 where the organization asks for a proof that the session lacks. */
const enterBySession = async (pool: Pool, entering: EnteringSession): Promise<Identity | undefined> => {
  try {
    return await identifySession(pool, entering);
  } catch (error) {
    if (!(error instanceof BurstError && error.sqlState === 'MU403')) throw error;
    throw forbidden('required_proof', undefined, { at: `/sign-in?organization=${entering.orgId}` });
  }
};

type LookUp = () => Promise<Identity | undefined>;
const atOnce: AroundLookUp = (look) => look();

export interface Authenticator {
  /** The token behind `Authorization: Bearer <secret>`. Throws 401, one and the same for every reason. */
  readonly authenticate: (secret: string, around?: AroundLookUp) => Promise<AuthenticatedToken>;
  /** The token of the session behind a cookie, in that organization. Throws 401, one and the same for every reason. */
  readonly authenticateSession: (
    secret: string,
    orgId: string,
    around?: AroundLookUp,
  ) => Promise<AuthenticatedToken>;
  /** Writes what is still to be noted and stops. */
  readonly close: () => Promise<void>;
}

type Remembered = Pick<AuthenticatedToken, 'identity' | 'rights'>;

export function createAuthenticator(pool: Pool): Authenticator {
  const remembered = new LRUCache<string, Remembered>({ max: mostRemembered, ttl: rememberMillis });
  const touched = new LRUCache<string, true>({ max: mostRemembered, ttl: rememberMillis });
  let used = new Map<string, Identity>();

  const touch = async (): Promise<void> => {
    if (used.size === 0) return;
    const tokens = [...used.values()];
    used = new Map();
    await touchTokens(
      pool,
      tokens.sort((a, b) => Buffer.compare(a.tokenHash, b.tokenHash)),
    );
  };
  // What cannot be noted now is lost: last_used_at is a hint, and the next use notes it again.
  const timer = setInterval(() => void touch().catch(() => undefined), touchMillis).unref();

  const note = (key: string, identity: Identity): void => {
    if (touched.has(key)) return;
    touched.set(key, true);
    used.set(key, identity);
  };

  const find = async (hash: Buffer, look: LookUp, around: AroundLookUp): Promise<AuthenticatedToken> => {
    const key = hash.toString('base64');
    let known = remembered.get(key);
    if (known === undefined) {
      const identity = await around(look);
      if (identity === undefined) throw unauthorized();
      known = { identity, rights: new RememberedRights(identity) };
      remembered.set(key, known);
    }
    const { identity, rights } = known;
    note(key, identity);
    const forget = (): void => {
      if (remembered.peek(key)?.identity === identity) remembered.delete(key);
    };
    return {
      ...{ identity, rights, forget },
      renew: () => {
        forget();
        return find(hash, look, atOnce);
      },
      confirm: async () => {
        if ((await look()) !== undefined) return;
        forget();
        throw unauthorized();
      },
    };
  };

  return {
    authenticate: async (secret, around = atOnce) => {
      if (!isWellFormedToken(secret)) throw unauthorized();
      const hash = hashToken(secret);
      return find(hash, () => identify(pool, hash), around);
    },
    authenticateSession: async (secret, orgId, around = atOnce) => {
      if (!isWellFormedSession(secret)) throw unauthorized();
      const tokenHash = sessionTokenHash(secret, orgId);
      const entering = { sessionHash: hashToken(secret), orgId, tokenHash };
      return find(tokenHash, () => enterBySession(pool, entering), around);
    },
    close: async () => {
      clearInterval(timer);
      await touch().catch(() => undefined);
    },
  };
}
