/**
 * Decides which calls share an idempotency key, so that a write that a client sends again runs once. A retry
 * after a broken connection has the same token, tool, arguments, JSON-RPC id and _meta. Two calls of a
 * program that exits after one call may have the same values, although both are intended. Therefore equal
 * calls share a key only until a response has been delivered.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export interface IdempotencyIntent {
  /** The Idempotency-Key of the call's writes. */
  readonly key: string;
  /** True if the client supplied the key, rather than the gateway deriving it. */
  readonly isOwn: boolean;
  /** Records that the whole response was sent. If the client sends the same call again, it is a new call. */
  markDelivered(): void;
}

/** The time for which a key is remembered, so that a client can retry after an outage. */
const keyLifetimeMillis = 10 * 60_000;
/** Maximum number of remembered keys, which take about 10 MB. */
const maxRememberedKeys = 20_000;

/**
 * Gateway processes share no state. Equal calls that reach different processes within this period get the
 * same key.
 */
const sharedKeyWindowMillis = 60_000;

interface RememberedKey {
  readonly key: string;
  readonly expiresAtMillis: number;
  /**
   * Increases when the same call is made again after its response was delivered. The new call then gets its
   * own key.
   */
  readonly generation: number;
  readonly isDelivered: boolean;
}

export const digest = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('base64url');
};

export class IntentStore {
  readonly #remembered = new LRUCache<string, RememberedKey>({ max: maxRememberedKeys });

  /**
   * Returns the intent of a call. `now` is in milliseconds since 1970, which is the same in every gateway
   * process.
   */
  of(fingerprint: string, now = Date.now()): IdempotencyIntent {
    const before = this.#remembered.get(fingerprint);
    const isKnown = before !== undefined && before.expiresAtMillis > now;
    const goesOn = isKnown && !before.isDelivered;
    const generation = isKnown ? before.generation + (goesOn ? 0 : 1) : 0;
    const minute = Math.floor(now / sharedKeyWindowMillis).toString();
    const key = goesOn ? before.key : digest(fingerprint, minute, generation.toString());
    this.#remembered.set(fingerprint, {
      key,
      generation,
      expiresAtMillis: now + keyLifetimeMillis,
      isDelivered: false,
    });
    return {
      key,
      isOwn: false,
      markDelivered: () => {
        const current = this.#remembered.peek(fingerprint);
        if (current?.key === key) this.#remembered.set(fingerprint, { ...current, isDelivered: true });
      },
    };
  }
}
