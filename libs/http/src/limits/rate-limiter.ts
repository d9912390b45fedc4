/**
 * Calls counted over all processes, and nearly always without waiting. Far from its end a bucket is counted here, and
 * Redis is told ten times a second what was taken; near its end, or where it was not seen for a while, Redis decides.
 * What others take meanwhile is missed for a tenth of a second at most, and is owed, so it is not taken twice. Where
 * Redis is away or hangs, the process counts alone, and no caller waits.
 */
import { LRUCache } from 'lru-cache';
import { intervalMillis, millisNow, type Quota, quotaOf, taken } from './rate.ts';
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

/** Finds the bucket of a cost in this process; a new one is full, and Redis has said nothing of it yet. */
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

/** Takes from all buckets or from none, without asking Redis; `onTaken` is told each that one was taken from. */
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

/** What was taken here and Redis has not heard of: it is told with the next question, or ten times a second. */
interface Debts {
  /** One was taken from the bucket here. */
  readonly add: (bucket: Bucket) => void;
  /** Asks about buckets, and tells what is owed; undefined while Redis is away. */
  readonly exchange: (
    kind: 'takeOwing' | 'settle',
    about: readonly Bucket[],
  ) => Promise<readonly Quota[] | undefined>;
  /** Tells what is still owed. */
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
        // What was taken here since it was asked comes on top.
        bucket.fullAt = taken(bucket.rate, now + quota.usedMillis, now, bucket.owed);
        bucket.heardAt = now;
      }
    }
    return quotas;
  };

  /** While Redis is away what is owed grows again as it does in the bucket, or an outage would be paid for afterwards. */
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
