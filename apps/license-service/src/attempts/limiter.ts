/**
 * How often a caller may try: per address, and of what fails per address and per key. What does not fail gives the
 * tokens of failure back. Redis counts for all processes; where it is away or hangs, memory goes on by the same
 * numbers, so that an outage neither opens the door nor closes it.
 */
import {
  createMemoryStore,
  createSharedStore,
  type Cost,
  type Quota,
  rateLimitField,
  type Limit,
  networkOf,
  rateLimitPolicyField,
  type Rate,
  retryAfterSeconds,
  type Store,
} from '@muster/http';

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
   * `limited`: the key has had too many failures, from anywhere. The machine that holds it must not pay for them, so it is looked
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

/** One slot of a cluster has them all: a script may not reach over several. */
export const usualPrefix = '{licenses}';

interface Named extends Cost, Limit {}

export function createLimiter({ limits, redisUrl, timeoutMillis, prefix, onRedis }: LimiterOptions): Limiter {
  const memory = createMemoryStore();
  const redis = redisUrl === undefined ? undefined : createSharedStore({ redisUrl, timeoutMillis, onRedis });

  /** Where this attempt is counted, and how the buckets stand. */
  const take = async (costs: readonly Named[], optional: number): Promise<[Store, readonly Quota[]]> =>
    (await redis?.ask(async (store): Promise<[Store, readonly Quota[]]> => [
      store,
      await store.take(costs, optional),
    ])) ?? [memory, await memory.take(costs, optional)];

  const cost = (name: string, rate: Rate, whom: string): Named => ({
    name,
    rate,
    key: `${prefix ?? usualPrefix}:${name}:${whom}`,
  });

  const policies = (kind: Attempt['kind']): string =>
    rateLimitPolicyField([
      { name: kind, rate: limits[kind] },
      { name: 'ip_fail', rate: limits.ipFail },
      { name: 'key_fail', rate: limits.keyFail },
    ]);
  const policyText = { ip: policies('ip'), check: policies('check') };

  const costsOf = ({ kind, address, keyHash }: Attempt): Named[] => {
    const network = networkOf(address);
    const here = cost(kind, limits[kind], network);
    if (keyHash === undefined) return [here];
    return [
      here,
      cost('ip_fail', limits.ipFail, network),
      cost('key_fail', limits.keyFail, keyHash.toString('base64url')),
    ];
  };

  return {
    admit: async (attempt) => {
      const costs = costsOf(attempt);
      const [store, quotas] = await take(costs, 2);
      const waits = quotas.map(({ waitMillis }) => waitMillis);
      const isRefused = waits.some((wait, index) => wait > 0 && index !== 2);
      const isLimited = (waits[2] ?? 0) > 0;
      // Of failures those were taken that had room.
      const failures = costs.slice(1, isLimited ? 2 : 3);
      return {
        verdict: isRefused ? 'refused' : isLimited ? 'limited' : 'open',
        retryAfterSeconds: retryAfterSeconds(quotas),
        headers: { ratelimit: rateLimitField(costs, quotas), 'ratelimit-policy': policyText[attempt.kind] },
        succeeded: () => {
          // No caller waits for it: at worst a token comes back late, or by itself.
          if (failures.length > 0) void store.giveBack(failures).catch(() => undefined);
        },
      };
    },
    close: () => redis?.close(),
  };
}
