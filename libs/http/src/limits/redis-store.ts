/**
 * Keeps the buckets of all processes in Redis. All requests made during one script call are sent together in
 * the next call.
 */
import { openBucketScript, type OwedCost, type BucketRequest } from './bucket-script.ts';
import { type Quota } from './rate.ts';
import { type Cost, type BucketStore } from './store.ts';

export { type OwedCost } from './bucket-script.ts';

/** A store in Redis. All keys of one call must be in the same cluster slot. */
export interface RedisStore extends BucketStore {
  /** Takes tokens like `take`. Before that, it takes the owed tokens, even from an empty bucket. */
  takeOwing(costs: readonly OwedCost[]): Promise<readonly Quota[]>;
  /** Takes the owed tokens from the buckets, and no further token. */
  settle(costs: readonly OwedCost[]): Promise<readonly Quota[]>;
  /** Returns the cluster slot of a key, or the same value for all keys of a single Redis server. */
  readonly clusterSlotOf: (key: string) => string;
  close(): void;
}

/** The maximum number of requests in one script call, since other clients wait while it runs. */
const maxRequestsPerCall = 100;

/** The time after which refunds are sent if no request carries them, in milliseconds. */
const refundDelayMillis = 10;

const withOwedTokens = (costs: readonly Cost[], owed: number): OwedCost[] =>
  costs.map((cost) => ({ ...cost, owed }));

const splitIntoBatches = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / maxRequestsPerCall) }, (_, part) =>
    items.slice(part * maxRequestsPerCall, (part + 1) * maxRequestsPerCall),
  );

/** Collects the tokens to return to Redis, with one sum for each bucket. */
function createRefunds(clusterSlotOf: (key: string) => string) {
  let back = new Map<string, OwedCost>();
  return {
    isEmpty: (): boolean => back.size === 0,
    add: (costs: readonly Cost[]): void => {
      for (const cost of costs) back.set(cost.key, { ...cost, owed: (back.get(cost.key)?.owed ?? 0) - 1 });
    },
    /**
     * Returns the refunds as requests whose answers are not awaited. If one is lost, the token is replenished
     * over time.
     */
    takeOut: (): BucketRequest[] => {
      if (back.size === 0) return [];
      const costs = [...back.values()];
      back = new Map();
      return [...Map.groupBy(costs, ({ key }) => clusterSlotOf(key)).values()].flatMap((there) =>
        splitIntoBatches(there).map((part) => ({
          ...{ wanted: 0 as const, costs: part, optional: 0 },
          ...{ resolve: () => undefined, reject: () => undefined },
        })),
      );
    },
  };
}

/** Creates a store in Redis. Each call rejects if Redis does not answer in time. */
export function createRedisStore(url: string, timeoutMillis: number): RedisStore {
  const script = openBucketScript(url, timeoutMillis);
  const refunds = createRefunds(script.clusterSlotOf);
  let waiting: BucketRequest[] = [];
  /** The cluster slots for which a script call is running. */
  const busy = new Set<string>();
  let isFlushing = false;

  const placeOf = ({ costs }: BucketRequest): string => script.clusterSlotOf(costs[0]?.key ?? '');

  /** Flushes after all requests of this turn of the event loop. */
  const flushSoon = (): void => {
    if (!isFlushing) setImmediate(flush);
    isFlushing = true;
  };

  const flush = (): void => {
    isFlushing = false;
    // Refunds precede new requests, so that a caller that makes one request after another never lacks a token
    // of its own that is still being returned.
    const all = [...refunds.takeOut(), ...waiting];
    waiting = [];
    for (const [place, there] of Map.groupBy(all, placeOf)) {
      if (busy.has(place)) waiting.push(...there);
      else sendAll(place, there);
    }
  };

  /**
   * Sends all waiting requests of a cluster slot in one script call, since a call costs more than many
   * requests. Requests made during the call are sent in the next one. If a call fails, the waiting requests
   * fail, too, so that no request waits twice for a Redis that hangs.
   */
  const sendAll = (place: string, batch: readonly BucketRequest[]): void => {
    busy.add(place);
    const parts = splitIntoBatches(batch).map(script.run);
    const done = (): void => {
      busy.delete(place);
      if (waiting.length > 0) flushSoon();
    };
    void Promise.all(parts).then(done, (error: unknown) => {
      const here = waiting.filter((asked) => placeOf(asked) === place);
      waiting = waiting.filter((asked) => placeOf(asked) !== place);
      for (const { reject } of here) reject(error);
      done();
    });
  };

  /**
   * Queues a request for the next batch, since a call per request would cost more than all other work of
   * counting.
   */
  const ask = (
    wanted: BucketRequest['wanted'],
    costs: readonly OwedCost[],
    optional: number,
  ): Promise<readonly Quota[]> =>
    new Promise((resolve, reject) => {
      flushSoon();
      waiting.push({ wanted, costs, optional, resolve, reject });
    });

  return {
    take: (costs, optional) => ask(1, withOwedTokens(costs, 0), optional === undefined ? 0 : optional + 1),
    takeOwing: (costs) => ask(1, costs, 0),
    settle: (costs) => ask(0, costs, 0),
    refund: (costs) => {
      if (refunds.isEmpty() && waiting.length === 0) setTimeout(flush, refundDelayMillis).unref();
      refunds.add(costs);
      return Promise.resolve();
    },
    clusterSlotOf: script.clusterSlotOf,
    close: () => {
      script.close();
    },
  };
}
