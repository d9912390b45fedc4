/**
 * Limits the rate of calls across all processes, nearly always without waiting. While a bucket is far from
 * empty, this process counts locally and reports to Redis ten times a second. When the bucket is nearly
 * empty, or has not been synchronized for a while, Redis decides. A process learns of calls in other
 * processes at most a tenth of a second late. Tokens that this process has taken and not yet reported are
 * called owed. While Redis is unavailable or hangs, the process counts alone, and no caller waits.
 */
import { LRUCache } from 'lru-cache';
import { intervalMillis, millisNow, type Quota, quotaOf, taken } from './rate.ts';
import { createSharedStore, type SharedOptions, type SharedStore } from './shared.ts';
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
  heardAt: number;
}

const settleMillis = 100;
const trustMillis = 5_000;
/** The maximum number of buckets in one report, since other processes wait while Redis reads it. */
const mostToldAtOnce = 100;
/**
 * The thresholds for a nearly empty bucket: this many tokens, or this part of its burst. All processes
 * together take fewer in a tenth of a second.
 */
const nearLeft = 100;
const nearPart = 1 / 4;
/**
 * The maximum number of buckets, some 10 MB. Beyond it the least recently used bucket is evicted; Redis keeps
 * its state, or it starts full.
 */
const mostBuckets = 50_000;

/** Creates a rate limiter. Without Redis each process counts for itself. */
export function createRateLimiter(options: SharedOptions | undefined): RateLimiter {
  return options === undefined ? countAlone() : countTogether(createSharedStore(options));
}

function countAlone(): RateLimiter {
  const bucketOf = createBuckets();
  return {
    take: (costs) => takeHere(costs.map(bucketOf), millisNow()),
    close: () => Promise.resolve(),
  };
}

function countTogether(redis: SharedStore): RateLimiter {
  const bucketOf = createBuckets();
  const debts = createDebts(redis);
  const takeAndOwe = (from: readonly Bucket[], now: number): readonly Quota[] =>
    takeHere(from, now, debts.add);
  return {
    take: (costs) => {
      const now = millisNow();
      const from = costs.map(bucketOf);
      if (from.every((bucket) => isFar(bucket, now))) return takeAndOwe(from, now);
      // guard: limits while Redis is away
      if (redis.isAway()) return takeAndOwe(from, now);
      // guard: limits without an answer of Redis
      const withoutAnswer = () => takeAndOwe(from, millisNow());
      return debts.exchange('takeOwing', from).then((quotas) => quotas ?? withoutAnswer());
    },
    close: async () => {
      await debts.close();
      redis.close();
    },
  };
}

/** Finds the bucket of a cost in this process. A new bucket is full and not yet synchronized with Redis. */
function createBuckets(): (cost: Cost) => Bucket {
  const buckets = new LRUCache<string, Bucket>({ max: mostBuckets });
  return (cost) => {
    const known = buckets.get(cost.key);
    if (known !== undefined) return known;
    const bucket = { ...cost, fullAt: 0, owed: 0, heardAt: -Infinity };
    buckets.set(cost.key, bucket);
    return bucket;
  };
}

const isFar = ({ rate, fullAt, heardAt }: Bucket, now: number): boolean =>
  heardAt > now - trustMillis && quotaOf(rate, fullAt, now).left > Math.max(nearLeft, rate.burst * nearPart);

/**
 * Takes a token from all buckets or from none, without asking Redis. Calls `onTaken` with each bucket from
 * which a token was taken.
 */
function takeHere(
  from: readonly Bucket[],
  now: number,
  onTaken?: (bucket: Bucket) => void,
): readonly Quota[] {
  const before = from.map(({ rate, fullAt }) => quotaOf(rate, fullAt, now));
  if (before.some(({ left }) => left < 1)) return before;
  return from.map((bucket) => {
    bucket.fullAt = taken(bucket.rate, bucket.fullAt, now);
    onTaken?.(bucket);
    return { ...quotaOf(bucket.rate, bucket.fullAt, now), waitMillis: 0 };
  });
}

/**
 * Tokens that were taken here and not yet reported to Redis. They are reported with the next request, or ten
 * times a second.
 */
interface Debts {
  /** Records that this process took one token from the bucket. */
  readonly add: (bucket: Bucket) => void;
  /** Asks Redis about buckets and reports owed tokens; undefined while Redis is unavailable. */
  readonly exchange: (
    kind: 'takeOwing' | 'settle',
    about: readonly Bucket[],
  ) => Promise<readonly Quota[] | undefined>;
  /** Reports to Redis all tokens that were taken and not yet reported. */
  readonly close: () => Promise<void>;
}

function createDebts(redis: SharedStore): Debts {
  const owing = new Set<Bucket>();

  const exchange: Debts['exchange'] = async (kind, about) => {
    const told = about.map((bucket) => {
      const { key, rate, owed } = bucket;
      bucket.owed = 0;
      owing.delete(bucket);
      return { key, rate, owed };
    });
    const quotas = await redis.ask((store) => store[kind](told));
    const now = millisNow();
    for (const [index, bucket] of about.entries()) {
      const quota = quotas?.[index];
      if (quota === undefined) oweAgain(bucket, told[index]?.owed ?? 0, now);
      else {
        // Adds the tokens that this process took while the request to Redis was running.
        bucket.fullAt = taken(bucket.rate, now + quota.usedMillis, now, bucket.owed);
        bucket.heardAt = now;
      }
    }
    return quotas;
  };

  /**
   * Restores owed tokens after a failed report. While Redis is unavailable, the debt shrinks as the bucket
   * refills; otherwise callers would pay for the outage afterwards.
   */
  const oweAgain = (bucket: Bucket, untold: number, now: number): void => {
    const used = Math.ceil(quotaOf(bucket.rate, bucket.fullAt, now).usedMillis / intervalMillis(bucket.rate));
    bucket.owed = Math.min(bucket.owed + untold, used);
    if (bucket.owed > 0) owing.add(bucket);
  };

  let settling: Promise<unknown> = Promise.resolve();
  let isSettling = false;
  const settle = (): void => {
    if (isSettling || owing.size === 0) return;
    isSettling = true;
    const parts = [...Map.groupBy(owing, ({ key }) => redis.placeOf(key)).values()].flatMap((due) =>
      Array.from({ length: Math.ceil(due.length / mostToldAtOnce) }, (_, part) =>
        exchange('settle', due.slice(part * mostToldAtOnce, (part + 1) * mostToldAtOnce)),
      ),
    );
    settling = Promise.all(parts).finally(() => {
      isSettling = false;
    });
  };
  const timer = setInterval(settle, settleMillis).unref();

  return {
    add: (bucket) => {
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
