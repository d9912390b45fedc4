/**
 * Which calls are one intention, so that a write which a client sends again happens once. A request that came again
 * after its connection was cut is the same to the byte: token, tool, arguments, JSON-RPC id and _meta. Programs that
 * call once and end, though, number their only call alike each time, and may well mean each of two equal calls. What
 * tells them apart is whether the answer went out: equal calls are one intention until an answer was delivered.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export interface Intent {
  /** The Idempotency-Key of its writes. */
  readonly key: string;
  /** The client's own word for what is one intention, rather than a guess. */
  readonly isOwn: boolean;
  /** The answer went out whole: a client that sends the same call again means it again. */
  delivered(): void;
}

/** Long enough for any client to come back after an outage. */
const rememberedMillis = 10 * 60_000;
/** Some 10 MB. */
const mostRemembered = 20_000;

/** Within it, processes that know nothing of one another give equal calls one key. */
const sharedMillis = 60_000;

interface Remembered {
  readonly key: string;
  readonly until: number;
  readonly generation: number;
  readonly isDelivered: boolean;
}

export const digest = (...parts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('base64url');
};

export class Intents {
  readonly #remembered = new LRUCache<string, Remembered>({ max: mostRemembered });

  /** `now` in milliseconds since 1970, which every copy of the gateway counts alike. */
  of(fingerprint: string, now = Date.now()): Intent {
    const before = this.#remembered.get(fingerprint);
    const isKnown = before !== undefined && before.until > now;
    const goesOn = isKnown && !before.isDelivered;
    const generation = isKnown ? before.generation + (goesOn ? 0 : 1) : 0;
    const minute = Math.floor(now / sharedMillis).toString();
    const key = goesOn ? before.key : digest(fingerprint, minute, generation.toString());
    this.#remembered.set(fingerprint, { key, generation, until: now + rememberedMillis, isDelivered: false });
    return {
      key,
      isOwn: false,
      delivered: () => {
        const current = this.#remembered.peek(fingerprint);
        if (current?.key === key) this.#remembered.set(fingerprint, { ...current, isDelivered: true });
      },
    };
  }
}
