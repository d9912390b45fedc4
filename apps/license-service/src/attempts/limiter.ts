/**
 * Rate-limits attempts per address, and failures per address and per key. An attempt takes tokens of the failure
 * buckets in advance and returns them if it does not fail. Redis counts for all processes. If Redis is unavailable or
 * slow, each process counts in memory with the same limits, so that an outage neither admits nor refuses everything.
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
  type BucketStore,
} from '@muster/http';

export interface AttemptLimits {
  readonly ip: Rate;
  readonly check: Rate;
  readonly usage: Rate;
  readonly ipFail: Rate;
  readonly keyFail: Rate;
}

export interface LimiterOptions {
  readonly limits: AttemptLimits;
  readonly redisUrl: string | undefined;
  readonly redisTimeoutMillis: number;
  /** The prefix of the Redis keys; `defaultKeyPrefix` by default. */
  readonly prefix?: string;
  /** Receives true once when Redis becomes unavailable, and false once when it is available again. */
  readonly onRedisStateChange: (isAway: boolean, error?: unknown) => void;
}

/** An attempt of a caller. Without a key, no failures of a key are counted. */
export interface Attempt {
  readonly kind: 'ip' | 'check' | 'usage';
  readonly address: string;
  readonly keyHash: Buffer | undefined;
}

export interface AttemptAdmission {
  /**
   * The result of the rate limit. `limited` means that the key has had too many failures from all addresses.
   * The machine that holds the key must not suffer from these failures. So the calling code finds out whether
   * this machine holds the key, and refuses all other machines.
   */
  readonly verdict: 'open' | 'limited' | 'refused';
  readonly retryAfterSeconds: number;
  readonly headers: { readonly ratelimit: string; readonly 'ratelimit-policy': string };
  /** Gives back the tokens that this attempt took from the failure buckets. */
  returnFailureTokens(): void;
}

export interface AttemptLimiter {
  admit(attempt: Attempt): Promise<AttemptAdmission>;
  close(): void;
}

/** The default key prefix. Its hash tag keeps all keys in one cluster slot, as a Redis script requires. */
export const defaultKeyPrefix = '{licenses}';

interface NamedCost extends Cost, Limit {}

export function createLimiter({
  limits,
  redisUrl,
  redisTimeoutMillis,
  prefix,
  onRedisStateChange,
}: LimiterOptions): AttemptLimiter {
  const memory = createMemoryStore();
  const redis =
    redisUrl === undefined
      ? undefined
      : createSharedStore({
          redisUrl,
          timeoutMillis: redisTimeoutMillis,
          onRedisAvailability: onRedisStateChange,
        });

  /** Takes the tokens. Returns the store that counted them and the quotas. */
  const take = async (
    costs: readonly NamedCost[],
    optional: number,
  ): Promise<[BucketStore, readonly Quota[]]> =>
    (await redis?.callRedis(async (store): Promise<[BucketStore, readonly Quota[]]> => [
      store,
      await store.take(costs, optional),
    ])) ?? [memory, await memory.take(costs, optional)];

  const cost = (name: string, rate: Rate, whom: string): NamedCost => ({
    name,
    rate,
    key: `${prefix ?? defaultKeyPrefix}:${name}:${whom}`,
  });

  const policies = (kind: Attempt['kind']): string =>
    rateLimitPolicyField([
      { name: kind, rate: limits[kind] },
      { name: 'ip_fail', rate: limits.ipFail },
      { name: 'key_fail', rate: limits.keyFail },
    ]);
  const policyText = { ip: policies('ip'), check: policies('check'), usage: policies('usage') };

  const costsOf = ({ kind, address, keyHash }: Attempt): NamedCost[] => {
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
      // If the bucket of key failures was empty, this attempt took no token from it.
      const failures = costs.slice(1, isLimited ? 2 : 3);
      return {
        verdict: isRefused ? 'refused' : isLimited ? 'limited' : 'open',
        retryAfterSeconds: retryAfterSeconds(quotas),
        headers: { ratelimit: rateLimitField(costs, quotas), 'ratelimit-policy': policyText[attempt.kind] },
        returnFailureTokens: () => {
          // No caller waits for this. If it fails, the bucket refills over time.
          if (failures.length > 0) void store.refund(failures).catch(() => undefined);
        },
      };
    },
    close: () => redis?.close(),
  };
}
