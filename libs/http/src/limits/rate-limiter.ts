/**
 * Limits the rate of calls across all processes, nearly always without waiting. While a bucket is far from
 * empty, this process counts locally and reports to Redis ten times a second. When the bucket is nearly
 * empty, or has not been synchronized for a while, Redis decides. A process learns of calls in other
 * processes at most a tenth of a second late. Tokens that this process has taken and not yet reported are
 * called owed. While Redis is unavailable or hangs, the process counts alone, and no caller waits.
 */
import { LRUCache } from 'lru-cache';
import { refillIntervalMillis, monotonicMillis, type Quota, quotaOf, fullAtAfterTaking } from './rate.ts';
import { createSharedStore, type SharedStoreOptions, type SharedStore } from './shared.ts';
import { type Cost } from './store.ts';

export interface RateLimiter {
  /**
   * Takes a token from all buckets or from none, and returns the state of each. A bucket with a wait was
   * empty.
   */
  take(costs: readonly Cost[]): readonly Quota[] | Promise<readonly Quota[]>;
  /** Reports the remaining calls to Redis. */
  close(): Promise<void>;
}

interface Bucket extends Cost {
  fullAt: number;
  /** The number of tokens that this process has taken and not yet reported to Redis. */
  owed: number;
  /** The time when Redis last reported the bucket's state. */
  syncedAt: number;
}

const reportIntervalMillis = 100;
const localStateMaxAgeMillis = 5_000;
/** The maximum number of buckets in one report, since other processes wait while Redis reads it. */
const maxBucketsPerReport = 100;
/**
 * The thresholds for a nearly empty bucket: this many tokens, or this part of its burst. All processes
 * together take fewer in a tenth of a second.
 */
const nearlyEmptyTokens = 100;
const nearlyEmptyFraction = 1 / 4;
/**
 * The maximum number of buckets, some 10 MB. Beyond it the least recently used bucket is evicted; Redis keeps
 * its state, or it starts full.
 */
const maxBuckets = 50_000;

/** Creates a rate limiter. Without Redis each process counts for itself. */
export function createRateLimiter(options: SharedStoreOptions | undefined): RateLimiter {
  return options === undefined ? createLocalLimiter() : createSharedLimiter(createSharedStore(options));
}

function createLocalLimiter(): RateLimiter {
  const bucketOf = createBucketLookup();
  return {
    take: (costs) => takeLocally(costs.map(bucketOf), monotonicMillis()),
    close: () => Promise.resolve(),
  };
}

function createSharedLimiter(redis: SharedStore): RateLimiter {
  const bucketOf = createBucketLookup();
  const debts = createUnreportedTokens(redis);
  const takeAndOwe = (from: readonly Bucket[], now: number): readonly Quota[] =>
    takeLocally(from, now, debts.recordTakenToken);
  return {
    take: (costs) => {
      const now = monotonicMillis();
      const from = costs.map(bucketOf);
      if (from.every((bucket) => isFarFromEmpty(bucket, now))) return takeAndOwe(from, now);
      // guard: limits while Redis is away
      if (redis.isRedisAway()) return takeAndOwe(from, now);
      // guard: limits without an answer of Redis
      const withoutAnswer = () => takeAndOwe(from, monotonicMillis());
      return debts.exchange('takeOwing', from).then((quotas) => quotas ?? withoutAnswer());
    },
    close: async () => {
      await debts.close();
      redis.close();
    },
  };
}

/** Finds the bucket of a cost in this process. A new bucket is full and not yet synchronized with Redis. */
function createBucketLookup(): (cost: Cost) => Bucket {
  const buckets = new LRUCache<string, Bucket>({ max: maxBuckets });
  return (cost) => {
    const known = buckets.get(cost.key);
    if (known !== undefined) return known;
    const bucket = { ...cost, fullAt: 0, owed: 0, syncedAt: -Infinity };
    buckets.set(cost.key, bucket);
    return bucket;
  };
}

const isFarFromEmpty = ({ rate, fullAt, syncedAt }: Bucket, now: number): boolean =>
  syncedAt > now - localStateMaxAgeMillis &&
  quotaOf(rate, fullAt, now).remainingTokens > Math.max(nearlyEmptyTokens, rate.burst * nearlyEmptyFraction);

/**
 * Takes a token from all buckets or from none, without asking Redis. Calls `onTaken` with each bucket from
 * which a token was taken.
 */
function takeLocally(
  fromBuckets: readonly Bucket[],
  now: number,
  onTaken?: (bucket: Bucket) => void,
): readonly Quota[] {
  const before = fromBuckets.map(({ rate, fullAt }) => quotaOf(rate, fullAt, now));
  if (before.some(({ remainingTokens: left }) => left < 1)) return before;
  return fromBuckets.map((bucket) => {
    bucket.fullAt = fullAtAfterTaking(bucket.rate, bucket.fullAt, now);
    onTaken?.(bucket);
    return { ...quotaOf(bucket.rate, bucket.fullAt, now), waitMillis: 0 };
  });
}

/**
 * Tokens that were taken here and not yet reported to Redis. They are reported with the next request, or ten
 * times a second.
 */
interface UnreportedTokens {
  /** Records that this process took one token from the bucket. */
  readonly recordTakenToken: (bucket: Bucket) => void;
  /** Asks Redis about buckets and reports owed tokens; undefined while Redis is unavailable. */
  readonly exchange: (
    kind: 'takeOwing' | 'settle',
    buckets: readonly Bucket[],
  ) => Promise<readonly Quota[] | undefined>;
  /** Reports to Redis all tokens that were taken and not yet reported. */
  readonly close: () => Promise<void>;
}

function createUnreportedTokens(redis: SharedStore): UnreportedTokens {
  const owing = new Set<Bucket>();

  const exchange: UnreportedTokens['exchange'] = async (kind, about) => {
    const told = about.map((bucket) => {
      const { key, rate, owed } = bucket;
      bucket.owed = 0;
      owing.delete(bucket);
      return { key, rate, owed };
    });
    const quotas = await redis.callRedis((store) => store[kind](told));
    const now = monotonicMillis();
    for (const [index, bucket] of about.entries()) {
      const quota = quotas?.[index];
      if (quota === undefined) oweAgain(bucket, told[index]?.owed ?? 0, now);
      else {
        // Adds the tokens that this process took while the request to Redis was running.
        bucket.fullAt = fullAtAfterTaking(bucket.rate, now + quota.millisUntilFull, now, bucket.owed);
        bucket.syncedAt = now;
      }
    }
    return quotas;
  };

  /**
   * Restores owed tokens after a failed report. While Redis is unavailable, the debt shrinks as the bucket
   * refills; otherwise callers would pay for the outage afterwards.
   */
  const oweAgain = (bucket: Bucket, untold: number, now: number): void => {
    const used = Math.ceil(
      quotaOf(bucket.rate, bucket.fullAt, now).millisUntilFull / refillIntervalMillis(bucket.rate),
    );
    bucket.owed = Math.min(bucket.owed + untold, used);
    if (bucket.owed > 0) owing.add(bucket);
  };

  let settling: Promise<unknown> = Promise.resolve();
  let isSettling = false;
  const settle = (): void => {
    if (isSettling || owing.size === 0) return;
    isSettling = true;
    const parts = [...Map.groupBy(owing, ({ key }) => redis.clusterSlotOf(key)).values()].flatMap((due) =>
      Array.from({ length: Math.ceil(due.length / maxBucketsPerReport) }, (_, part) =>
        exchange('settle', due.slice(part * maxBucketsPerReport, (part + 1) * maxBucketsPerReport)),
      ),
    );
    settling = Promise.all(parts).finally(() => {
      isSettling = false;
    });
  };
  const timer = setInterval(settle, reportIntervalMillis).unref();

  return {
    recordTakenToken: (bucket) => {
      bucket.owed += 1;
      owing.add(bucket);
    },
    exchange,
    close: async () => {
      clearInterval(timer);
      await settling;
      settle();
      await settling;
    },
  };
}
