/**
 * How often somebody may try: per address, and of what fails per address and per key. What does not fail gives the
 * tokens of failure back. Redis counts for all processes; where it is away or hangs, memory goes on by the same
 * numbers, so that an outage neither opens the door nor closes it.
 */
import { type Rate } from '../config.ts';
import { type Level } from './gcra.ts';
import { createMemoryStore } from './memory-store.ts';
import { networkOf } from './network.ts';
import { createRedisStore } from './redis-store.ts';
import { type Draw, type Store } from './store.ts';

export interface Limits {
  readonly ip: Rate;
  readonly check: Rate;
  readonly ipFail: Rate;
  readonly keyFail: Rate;
}

export interface LimiterOptions {
  readonly limits: Limits;
  readonly redisUrl: string | undefined;
  readonly timeoutMillis: number;
  /** Of the keys in Redis; the usual one unless told. */
  readonly prefix?: string;
  /** Told once when Redis is lost, and once when it is back. */
  readonly onRedis: (isAway: boolean, error?: unknown) => void;
}

/** What is asked for, by whom; without a key there is nothing to guess. */
export interface Attempt {
  readonly kind: 'ip' | 'check';
  readonly address: string;
  readonly keyHash: Buffer | undefined;
}

export interface Admission {
  /**
   * `limited`: the key has had too many failures, from anywhere. Whoever holds it must not pay for them, so it is looked
   * up who asks, and everybody else is refused.
   */
  readonly verdict: 'open' | 'limited' | 'refused';
  readonly retryAfterSeconds: number;
  readonly headers: { readonly ratelimit: string; readonly 'ratelimit-policy': string };
  /** It was no failure. */
  succeeded(): void;
}

export interface Limiter {
  admit(attempt: Attempt): Promise<Admission>;
  close(): void;
}

/** While Redis is away it is asked again after so long, by one attempt. */
const askAgainMillis = 1_000;

/** One slot of a cluster has them all: a script may not reach over several. */
const usualPrefix = '{licenses}';

interface Named extends Draw {
  readonly name: string;
}

/** RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers): quota, and the window in which it grows again. */
const policyOf = ({ name, rate }: Pick<Named, 'name' | 'rate'>): string =>
  `"${name}";q=${rate.burst};w=${Math.ceil(rate.burst * rate.seconds)}`;

const seconds = (millis: number): number => Math.ceil(millis / 1_000);

const limitOf = ({ name, rate }: Named, { left, waitMillis }: Level): string =>
  `"${name}";r=${left};t=${seconds(waitMillis > 0 ? waitMillis : left < rate.burst ? rate.seconds * 1_000 : 0)}`;

export function createLimiter({ limits, redisUrl, timeoutMillis, prefix, onRedis }: LimiterOptions): Limiter {
  const memory = createMemoryStore();
  const redis = redisUrl === undefined ? undefined : createRedisStore(redisUrl, timeoutMillis);
  let isAway = false;
  let askAgainAt = 0;

  /** Where this attempt is counted, and how the buckets stand. */
  async function take(draws: readonly Named[], optional: number): Promise<[Store, readonly Level[]]> {
    const now = Date.now();
    if (redis !== undefined && now >= askAgainAt) {
      // Others count in memory meanwhile, so that not everybody waits for a Redis that hangs.
      if (isAway) askAgainAt = now + askAgainMillis;
      try {
        const levels = await redis.take(draws, optional);
        if (isAway) onRedis(false);
        [isAway, askAgainAt] = [false, 0];
        return [redis, levels];
      } catch (error) {
        if (!isAway) onRedis(true, error);
        [isAway, askAgainAt] = [true, Date.now() + askAgainMillis];
      }
    }
    return [memory, await memory.take(draws, optional)];
  }

  const draw = (name: string, rate: Rate, whom: string): Named => ({
    name,
    rate,
    key: `${prefix ?? usualPrefix}:${name}:${whom}`,
  });

  const policies = (kind: Attempt['kind']): readonly string[] =>
    [
      { name: kind, rate: limits[kind] },
      { name: 'ip_fail', rate: limits.ipFail },
      { name: 'key_fail', rate: limits.keyFail },
    ].map(policyOf);
  const policyText = { ip: policies('ip').join(', '), check: policies('check').join(', ') };

  const drawsOf = ({ kind, address, keyHash }: Attempt): Named[] => {
    const network = networkOf(address);
    const here = draw(kind, limits[kind], network);
    if (keyHash === undefined) return [here];
    return [
      here,
      draw('ip_fail', limits.ipFail, network),
      draw('key_fail', limits.keyFail, keyHash.toString('base64url')),
    ];
  };

  return {
    admit: async (attempt) => {
      const draws = drawsOf(attempt);
      const [store, levels] = await take(draws, 2);
      const waits = levels.map(({ waitMillis }) => waitMillis);
      const isRefused = waits.some((wait, index) => wait > 0 && index !== 2);
      const isLimited = (waits[2] ?? 0) > 0;
      // Of failures those were taken that had room.
      const failures = draws.slice(1, isLimited ? 2 : 3);
      return {
        verdict: isRefused ? 'refused' : isLimited ? 'limited' : 'open',
        retryAfterSeconds: Math.max(seconds(Math.max(...waits)), 1),
        headers: {
          ratelimit: draws
            .map((one, index) => limitOf(one, levels[index] ?? { left: 0, waitMillis: 0 }))
            .join(', '),
          'ratelimit-policy': policyText[attempt.kind],
        },
        succeeded: () => {
          // Nobody waits for it: at worst a token comes back late, or by itself.
          if (failures.length > 0) void store.giveBack(failures).catch(() => undefined);
        },
      };
    },
    close: () => redis?.close(),
  };
}
