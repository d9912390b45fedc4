/**
 * Tokens: `must_<live|test>_`, 32 base-62 symbols (190 bits), 6 of CRC-32. At rest only SHA-256. A malformed one
 * costs no SQL. Identity is remembered for a minute by hash; the door checks again in every transaction, so a
 * revocation holds from the next request on.
 */
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { identify, type Identity, type Pool } from '@muster/database';
import { unauthorized } from '@muster/registry';

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

export const hashToken = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export interface AuthenticatedToken {
  readonly identity: Identity;
  /** Drops what is remembered: the door found that it no longer holds. */
  readonly forget: () => void;
  /** For whoever is refused before the door: looks whether it still holds. Throws the same 401 as authenticate. */
  readonly confirm: () => Promise<void>;
}

/** How long an identity is remembered, and how many at most. */
const rememberMillis = 60_000;
const mostRemembered = 10_000;
/** Use is noted at most once a minute per token, in batches. */
const touchMillis = 10_000;

export interface Authenticator {
  /** The token behind `Authorization: Bearer <secret>`. Throws 401, one and the same for every reason. */
  readonly authenticate: (secret: string) => Promise<AuthenticatedToken>;
  /** Writes what is still to be noted and stops. */
  readonly close: () => Promise<void>;
}

export function createAuthenticator(pool: Pool): Authenticator {
  const remembered = new Map<string, { identity: Identity; until: number }>();
  const touched = new Map<string, number>();
  let used = new Map<string, Buffer>();

  const touch = async (): Promise<void> => {
    if (used.size === 0) return;
    const hashes = [...used.values()];
    used = new Map();
    // Sorted, so that two processes lock rows in one order.
    await pool.query('select app.touch_tokens($1::bytea[])', [hashes.sort((a, b) => Buffer.compare(a, b))]);
  };
  // What cannot be noted now is lost: last_used_at is a hint, and the next use notes it again.
  const timer = setInterval(() => void touch().catch(() => undefined), touchMillis).unref();

  const note = (key: string, identity: Identity, now: number): void => {
    if ((touched.get(key) ?? 0) > now - rememberMillis) return;
    if (touched.size >= mostRemembered) touched.clear();
    touched.set(key, now);
    used.set(key, identity.tokenHash);
  };

  return {
    authenticate: async (secret) => {
      if (!isWellFormedToken(secret)) throw unauthorized();
      const hash = hashToken(secret);
      const key = hash.toString('base64');
      const now = Date.now();
      let known = remembered.get(key);
      if (known === undefined || known.until < now) {
        remembered.delete(key);
        const identity = await identify(pool, hash);
        if (identity === undefined) throw unauthorized();
        if (remembered.size >= mostRemembered) remembered.clear();
        known = { identity, until: now + rememberMillis };
        remembered.set(key, known);
      }
      note(key, known.identity, now);
      const forget = (): void => void remembered.delete(key);
      const confirm = async (): Promise<void> => {
        if ((await identify(pool, hash)) !== undefined) return;
        forget();
        throw unauthorized();
      };
      return { identity: known.identity, forget, confirm };
    },
    close: async () => {
      clearInterval(timer);
      await touch().catch(() => undefined);
    },
  };
}
