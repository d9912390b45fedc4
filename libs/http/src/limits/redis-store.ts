/** Buckets in Redis, of all processes: one call for all that is asked while one is under way. */
import { openBucketScript, type OwedCost, type Question } from './bucket-script.ts';
import { type Quota } from './rate.ts';
import { type Cost, type Store } from './store.ts';

export { type OwedCost } from './bucket-script.ts';

/** The keys of one call have one place. */
export interface RedisStore extends Store {
  /** The same; before it, what is owed is taken, also from a bucket that is empty. */
  takeOwing(costs: readonly OwedCost[]): Promise<readonly Quota[]>;
  /** Takes nothing but what is owed. */
  settle(costs: readonly OwedCost[]): Promise<readonly Quota[]>;
  /** Where a key is kept: of a cluster its part, of one Redis the same for all. */
  readonly placeOf: (key: string) => string;
  close(): void;
}

/** Others wait while a script runs. */
const mostAtOnce = 100;

/** What is given back goes with the next question, or by itself after so long. */
const giveBackWithinMillis = 10;

const owing = (costs: readonly Cost[], owed: number): OwedCost[] => costs.map((cost) => ({ ...cost, owed }));

const inParts = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / mostAtOnce) }, (_, part) =>
    items.slice(part * mostAtOnce, (part + 1) * mostAtOnce),
  );

/** What is to be given back, each bucket once. */
function createRefunds(placeOf: (key: string) => string) {
  let back = new Map<string, OwedCost>();
  return {
    isEmpty: (): boolean => back.size === 0,
    add: (costs: readonly Cost[]): void => {
      for (const cost of costs) back.set(cost.key, { ...cost, owed: (back.get(cost.key)?.owed ?? 0) - 1 });
    },
    /** As questions whose answers are not waited for: at worst a token comes back by itself. */
    takeOut: (): Question[] => {
      if (back.size === 0) return [];
      const costs = [...back.values()];
      back = new Map();
      return [...Map.groupBy(costs, ({ key }) => placeOf(key)).values()].flatMap((there) =>
        inParts(there).map((part) => ({
          ...{ wanted: 0 as const, costs: part, optional: 0 },
          ...{ resolve: () => undefined, reject: () => undefined },
        })),
      );
    },
  };
}

/** Each call rejects where Redis does not answer in time. */
export function createRedisStore(url: string, timeoutMillis: number): RedisStore {
  const script = openBucketScript(url, timeoutMillis);
  const refunds = createRefunds(script.placeOf);
  let waiting: Question[] = [];
  /** Places with a call under way. */
  const busy = new Set<string>();
  let isFlushing = false;

  const placeOf = ({ costs }: Question): string => script.placeOf(costs[0]?.key ?? '');

  /** After all that came in this turn of the event loop. */
  const flushSoon = (): void => {
    if (!isFlushing) setImmediate(flush);
    isFlushing = true;
  };

  const flush = (): void => {
    isFlushing = false;
    // Before what is asked now: a caller that asks one after the other never meets a token of its own that is under way.
    const all = [...refunds.takeOut(), ...waiting];
    waiting = [];
    for (const [place, there] of Map.groupBy(all, placeOf)) {
      if (busy.has(place)) waiting.push(...there);
      else sendAll(place, there);
    }
  };

  /**
   * Everything that is asked of a place goes in one call, and what is asked while that is under way in the next one: a
   * call costs more than many questions. Where it fails they have failed too, so that none waits twice for a Redis that hangs.
   */
  const sendAll = (place: string, batch: readonly Question[]): void => {
    busy.add(place);
    const parts = inParts(batch).map(script.run);
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

  /** A call of its own for each question costs more than all the rest of counting. */
  const ask = (
    wanted: Question['wanted'],
    costs: readonly OwedCost[],
    optional: number,
  ): Promise<readonly Quota[]> =>
    new Promise((resolve, reject) => {
      flushSoon();
      waiting.push({ wanted, costs, optional, resolve, reject });
    });

  return {
    take: (costs, optional) => ask(1, owing(costs, 0), optional === undefined ? 0 : optional + 1),
    takeOwing: (costs) => ask(1, costs, 0),
    settle: (costs) => ask(0, costs, 0),
    giveBack: (costs) => {
      if (refunds.isEmpty() && waiting.length === 0) setTimeout(flush, giveBackWithinMillis).unref();
      refunds.add(costs);
      return Promise.resolve();
    },
    placeOf: script.placeOf,
    close: () => {
      script.close();
    },
  };
}
