/** Buckets in Redis, of all processes, by Redis's own clock: one call for all that is asked while one is under way. */
import { redisScript } from '../redis.ts';
import { grouped } from './grouped.ts';
import { intervalMillis, type Quota, quotaOf, type Rate } from './rate.ts';
import { type Cost, type Store } from './store.ts';

/**
 * The same as memory-store.ts does, for one question after another. KEYS: the buckets of all, each once, and each is read
 * and written once. ARGV: for each bucket its burst and the milliseconds for one more; then for each question a line of
 * numbers: whether one is to be taken (1, or 0), which of its buckets may be empty (0: none), and for each the place
 * of its key and how many were taken before (below 0: are given back), which is not asked for. Answers for each bucket of
 * each question the milliseconds until it is as good as new, and the wait of one that was empty. Lua would write large
 * numbers as 1.7e+12, hence the format.
 */
const lua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored, full, burst, interval, answer = {}, {}, {}, {}, {}
for b, key in ipairs(KEYS) do
  stored[b] = math.max(tonumber(redis.call('GET', key)) or 0, now)
  full[b], burst[b], interval[b] = stored[b], tonumber(ARGV[2 * b - 1]), tonumber(ARGV[2 * b])
end
for q = 2 * #KEYS + 1, #ARGV do
  local words = string.gmatch(ARGV[q], '%S+')
  local wanted, optional = words() == '1', tonumber(words())
  local buckets, waits, empty = {}, {}, not wanted
  for place in words do
    local b, i = tonumber(place), #buckets + 1
    full[b] = math.max(full[b] + tonumber(words()) * interval[b], now)
    buckets[i], waits[i] = b, math.max(full[b] - now - (burst[b] - 1) * interval[b], 0)
    if waits[i] > 0 and i ~= optional then empty = true end
  end
  for i, b in ipairs(buckets) do
    if not empty and waits[i] == 0 then full[b] = full[b] + interval[b] end
    answer[#answer + 1] = math.ceil(full[b] - now)
    answer[#answer + 1] = math.ceil(waits[i])
  end
end
for b, key in ipairs(KEYS) do
  if full[b] > now then
    local millis = string.format('%.0f', math.ceil(full[b] - now))
    if full[b] ~= stored[b] then redis.call('SET', key, string.format('%.0f', full[b]), 'PX', millis) end
  elseif stored[b] > now then
    redis.call('DEL', key)
  end
end
return answer`;

/** One that may have been taken from already, without anybody asking. */
export interface OwedCost extends Cost {
  readonly owed: number;
}

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

/** What is to be asked of Redis with the next call. */
interface Asked {
  readonly wanted: 0 | 1;
  readonly costs: readonly OwedCost[];
  /** Counted from 1; 0: none. */
  readonly optional: number;
  readonly resolve: (quotas: readonly Quota[]) => void;
  readonly reject: (error: unknown) => void;
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

/** The script's keys and arguments. */
function callOf(batch: readonly Asked[]): { keys: string[]; args: (string | number)[] } {
  const buckets = new Map<string, { readonly place: number; readonly rate: Rate }>();
  const placeOfBucket = ({ key, rate }: Cost): number => {
    const known = buckets.get(key) ?? { place: buckets.size + 1, rate };
    if (known.place > buckets.size) buckets.set(key, known);
    return known.place;
  };
  const questions = batch.map(({ wanted, costs, optional }) =>
    costs.reduce((line, cost) => `${line} ${placeOfBucket(cost)} ${cost.owed}`, `${wanted} ${optional}`),
  );
  const rates = Array.from(buckets.values(), ({ rate }) => [rate.burst, intervalMillis(rate)]).flat();
  return { keys: [...buckets.keys()], args: [...rates, ...questions] };
}

/** Each call rejects where Redis does not answer in time. */
export function createRedisStore(url: string, timeoutMillis: number): RedisStore {
  const script = redisScript(url, lua, timeoutMillis);
  let waiting: Asked[] = [];
  /** To be given back, by their keys. */
  let back = new Map<string, OwedCost>();
  /** Places with a call under way. */
  const busy = new Set<string>();
  let isFlushing = false;

  /** Rejects after it has told all of the batch. */
  const send = async (batch: readonly Asked[]): Promise<void> => {
    const { keys, args } = callOf(batch);
    try {
      const answer = await script.run(keys, args);
      if (!Array.isArray(answer)) throw new Error('Redis answered something else');
      let place = 0;
      const next = (): number => Number(answer[place++]);
      for (const { costs, resolve } of batch) {
        resolve(costs.map(({ rate }) => ({ ...quotaOf(rate, next(), 0), waitMillis: next() })));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
      throw error;
    }
  };

  const placeOf = ({ costs }: Asked): string => script.placeOf(costs[0]?.key ?? '');

  /**
   * Everything that is asked of a place goes in one call, and what is asked while that is under way in the next one: a
   * call costs more than many questions. Where it fails they have failed too, so that none waits twice for a Redis that hangs.
   */
  const sendAll = (place: string, batch: readonly Asked[]): void => {
    busy.add(place);
    const parts = inParts(batch).map(send);
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

  /** What is to be given back, whose answers are not waited for: at worst a token comes back by itself. */
  const givingBack = (): Asked[] => {
    if (back.size === 0) return [];
    const costs = [...back.values()];
    back = new Map();
    return grouped(costs, ({ key }) => script.placeOf(key)).flatMap((there) =>
      inParts(there).map((part) => ({
        ...{ wanted: 0 as const, costs: part, optional: 0 },
        ...{ resolve: () => undefined, reject: () => undefined },
      })),
    );
  };

  /** After all that came in this turn of the event loop. */
  const flushSoon = (): void => {
    if (!isFlushing) setImmediate(flush);
    isFlushing = true;
  };

  const flush = (): void => {
    isFlushing = false;
    // Before what is asked now: who asks one after the other never meets a token of his own that is under way.
    const all = [...givingBack(), ...waiting];
    waiting = [];
    for (const there of grouped(all, placeOf)) {
      const [first] = there;
      if (first === undefined) continue;
      const place = placeOf(first);
      if (busy.has(place)) waiting.push(...there);
      else sendAll(place, there);
    }
  };

  /** A call of its own for each question costs more than all the rest of counting. */
  const ask = (
    wanted: Asked['wanted'],
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
      if (back.size === 0 && waiting.length === 0) setTimeout(flush, giveBackWithinMillis).unref();
      for (const cost of costs) back.set(cost.key, { ...cost, owed: (back.get(cost.key)?.owed ?? 0) - 1 });
      return Promise.resolve();
    },
    placeOf: script.placeOf,
    close: () => {
      script.close();
    },
  };
}
