/** Buckets in Redis, of all processes, by Redis's own clock: one call for all that is asked in a turn. */
import { redisScript } from '../redis.ts';
import { grouped } from './grouped.ts';
import { intervalMillis, type Quota, quotaOf } from './rate.ts';
import { type Cost, type Store } from './store.ts';

/**
 * The same as memory-store.ts does, for one question after another. KEYS: the buckets of all. ARGV: for each question
 * whether one is to be taken (1, or 0), how many buckets, which of them may be empty (0: none), and for each bucket its
 * burst, the milliseconds for one more, and how many were taken before (below 0: are given back), which is not asked
 * for. Answers for each bucket the milliseconds until it is as good as new, and the wait of one that was empty. Lua
 * would write large numbers as 1.7e+12, hence the format.
 */
const lua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer, place, first = {}, 1, 0
while place <= #ARGV do
  local wanted, count, optional = ARGV[place], tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
  local olds, fulls, waits, intervals, empty = {}, {}, {}, {}, wanted == '0'
  for i = 1, count do
    local burst, owed = tonumber(ARGV[place + 3 * i]), tonumber(ARGV[place + 3 * i + 2])
    intervals[i] = tonumber(ARGV[place + 3 * i + 1])
    olds[i] = math.max(tonumber(redis.call('GET', KEYS[first + i])) or 0, now)
    fulls[i] = math.max(olds[i] + owed * intervals[i], now)
    waits[i] = math.max(fulls[i] - now - (burst - 1) * intervals[i], 0)
    if waits[i] > 0 and i ~= optional then empty = true end
  end
  for i = 1, count do
    if not empty and waits[i] == 0 then fulls[i] = fulls[i] + intervals[i] end
    if fulls[i] > now then
      local millis = string.format('%.0f', math.ceil(fulls[i] - now))
      if fulls[i] ~= olds[i] then redis.call('SET', KEYS[first + i], string.format('%.0f', fulls[i]), 'PX', millis) end
    elseif olds[i] > now then
      redis.call('DEL', KEYS[first + i])
    end
    answer[#answer + 1] = math.ceil(fulls[i] - now)
    answer[#answer + 1] = math.ceil(waits[i])
  end
  place, first = place + 3 + 3 * count, first + count
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

/** What is asked of Redis in this turn of the event loop. */
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

/** Each call rejects where Redis does not answer in time. */
export function createRedisStore(url: string, timeoutMillis: number): RedisStore {
  const script = redisScript(url, lua, timeoutMillis);
  let waiting: Asked[] = [];
  /** To be given back, by their keys. */
  let back = new Map<string, OwedCost>();

  const send = async (batch: readonly Asked[]): Promise<void> => {
    const keys: string[] = [];
    const args: number[] = [];
    for (const { wanted, costs, optional } of batch) {
      args.push(wanted, costs.length, optional);
      for (const { key, rate, owed } of costs) {
        keys.push(key);
        args.push(rate.burst, intervalMillis(rate), owed);
      }
    }
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
    }
  };

  /** What is to be given back, whose answers are not waited for: at worst a token comes back by itself. */
  const givingBack = (): Asked[] => {
    if (back.size === 0) return [];
    const costs = [...back.values()];
    back = new Map();
    return grouped(costs, ({ key }) => script.placeOf(key)).flatMap((there) =>
      Array.from({ length: Math.ceil(there.length / mostAtOnce) }, (_, part) => ({
        ...{
          wanted: 0 as const,
          costs: there.slice(part * mostAtOnce, (part + 1) * mostAtOnce),
          optional: 0,
        },
        ...{ resolve: () => undefined, reject: () => undefined },
      })),
    );
  };

  const flush = (): void => {
    // Before what is asked now: who asks one after the other never meets a token of his own that is under way.
    const all = [...givingBack(), ...waiting];
    waiting = [];
    for (const there of grouped(all, ({ costs }) => script.placeOf(costs[0]?.key ?? ''))) {
      for (let start = 0; start < there.length; start += mostAtOnce) {
        void send(there.slice(start, start + mostAtOnce));
      }
    }
  };

  /** A call of its own for each question costs more than all the rest of counting. */
  const ask = (
    wanted: Asked['wanted'],
    costs: readonly OwedCost[],
    optional: number,
  ): Promise<readonly Quota[]> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
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
