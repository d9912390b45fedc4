/**
 * Calls counted over all processes, and nearly always without waiting. Far from its end a bucket is counted here, and
 * Redis is told ten times a second what was taken; near its end, or where it was not seen for a while, Redis decides.
 * What others take meanwhile is missed for a tenth of a second at most, and is owed, so it is not taken twice. Where
 * Redis is away or hangs, the process counts alone, and no caller waits.
 */
import { grouped } from './grouped.ts';
import { intervalMillis, type Quota, quotaOf, taken } from './rate.ts';
import { createSharedStore, type SharedOptions, type SharedStore } from './shared.ts';
import { type Cost } from './store.ts';

export interface RateLimiter {
  /** Takes from all or from none, and says how each stands afterwards; one with a wait was empty. */
  take(costs: readonly Cost[]): readonly Quota[] | Promise<readonly Quota[]>;
  /** Tells Redis what it has not heard yet. */
  close(): Promise<void>;
}

interface Bucket extends Cost {
  fullAt: number;
  /** Taken here, and not told to Redis yet. */
  owed: number;
  /** When Redis last said how it stands. */
  heardAt: number;
}

const settleMillis = 100;
const trustMillis = 5_000;
/** Others wait while Redis reads a list. */
const mostToldAtOnce = 100;
/** With so little left, or so small a part of its burst, a bucket is near its end: all processes together take less in a tenth of a second. */
const nearLeft = 100;
const nearPart = 1 / 4;
/** Some 10 MB. Beyond it the buckets that were met first are forgotten: Redis knows them, or they begin anew. */
const mostBuckets = 50_000;

/** Without Redis each process counts for itself. */
export function createRateLimiter(options: SharedOptions | undefined): RateLimiter {
  const redis = options && createSharedStore(options);
  const buckets = new Map<string, Bucket>();
  const owing = new Set<Bucket>();

  const bucketOf = (cost: Cost): Bucket => {
    const known = buckets.get(cost.key);
    if (known !== undefined) return known;
    const bucket = { ...cost, fullAt: 0, owed: 0, heardAt: 0 };
    buckets.set(cost.key, bucket);
    if (buckets.size > mostBuckets) {
      const [first] = buckets.keys();
      if (first !== undefined) buckets.delete(first);
    }
    return bucket;
  };

  const isFar = ({ rate, fullAt, heardAt }: Bucket, now: number): boolean =>
    heardAt > now - trustMillis &&
    quotaOf(rate, fullAt, now).left > Math.max(nearLeft, rate.burst * nearPart);

  const takeHere = (from: readonly Bucket[], now: number): readonly Quota[] => {
    const before = from.map(({ rate, fullAt }) => quotaOf(rate, fullAt, now));
    if (before.some(({ left }) => left < 1)) return before;
    return from.map((bucket) => {
      bucket.fullAt = taken(bucket.rate, bucket.fullAt, now);
      if (redis !== undefined) {
        bucket.owed += 1;
        owing.add(bucket);
      }
      return { ...quotaOf(bucket.rate, bucket.fullAt, now), waitMillis: 0 };
    });
  };

  /** Asks about buckets, and tells what is owed; undefined while Redis is away. */
  const exchange = async (
    shared: SharedStore,
    kind: 'takeOwing' | 'settle',
    about: readonly Bucket[],
  ): Promise<readonly Quota[] | undefined> => {
    const told = about.map((bucket) => {
      const { key, rate, owed } = bucket;
      bucket.owed = 0;
      owing.delete(bucket);
      return { key, rate, owed };
    });
    const quotas = await shared.ask((store) => store[kind](told));
    const now = Date.now();
    for (const [index, bucket] of about.entries()) {
      const quota = quotas?.[index];
      if (quota === undefined) owe(bucket, told[index]?.owed ?? 0, now);
      else {
        // What was taken here since it was asked comes on top.
        bucket.fullAt = taken(bucket.rate, now + quota.usedMillis, now, bucket.owed);
        bucket.heardAt = now;
      }
    }
    return quotas;
  };

  /** While Redis is away what is owed grows again as it does in the bucket, or an outage would be paid for afterwards. */
  const owe = (bucket: Bucket, untold: number, now: number): void => {
    const used = Math.ceil(quotaOf(bucket.rate, bucket.fullAt, now).usedMillis / intervalMillis(bucket.rate));
    bucket.owed = Math.min(bucket.owed + untold, used);
    if (bucket.owed > 0) owing.add(bucket);
  };

  let settling: Promise<unknown> = Promise.resolve();
  let isSettling = false;
  const settle = (): void => {
    if (redis === undefined || isSettling || owing.size === 0) return;
    isSettling = true;
    const parts = grouped(owing, ({ key }) => redis.placeOf(key)).flatMap((due) =>
      Array.from({ length: Math.ceil(due.length / mostToldAtOnce) }, (_, part) =>
        exchange(redis, 'settle', due.slice(part * mostToldAtOnce, (part + 1) * mostToldAtOnce)),
      ),
    );
    settling = Promise.all(parts).finally(() => {
      isSettling = false;
    });
  };
  const timer = setInterval(settle, settleMillis).unref();

  return {
    take: (costs) => {
      const now = Date.now();
      const from = costs.map(bucketOf);
      if (redis === undefined || from.every((bucket) => isFar(bucket, now))) return takeHere(from, now);
      // guard: limits while Redis is away
      if (redis.isAway()) return takeHere(from, now);
      // guard: limits without an answer of Redis
      const withoutAnswer = () => takeHere(from, Date.now());
      return exchange(redis, 'takeOwing', from).then((quotas) => quotas ?? withoutAnswer());
    },
    close: async () => {
      clearInterval(timer);
      await settling;
      settle();
      await settling;
      redis?.close();
    },
  };
}
