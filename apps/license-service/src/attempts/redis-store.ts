/** Attempts counted in Redis, over all processes, by Redis's own clock: one call for all attempts of a turn. */
import { redisScript } from '@muster/service';
import { type Level } from './gcra.ts';
import { type Draw, type Store } from './store.ts';

/**
 * The same as memory-store.ts does, for one attempt after another. KEYS: the buckets of all. ARGV: for each attempt
 * take or back, how many buckets, which of them may be empty (0: none), and for each bucket its burst and the
 * milliseconds for one more. Lua would write large numbers as 1.7e+12, hence the format.
 */
const lua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function put(key, full)
  if full > now then
    redis.call('SET', key, string.format('%.0f', full), 'PX', string.format('%.0f', math.ceil(full - now)))
  else
    redis.call('DEL', key)
  end
end
local answer, place, first = {}, 1, 0
while place <= #ARGV do
  local count, optional = tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
  local fulls, spaces, intervals, empty = {}, {}, {}, false
  for i = 1, count do
    intervals[i] = tonumber(ARGV[place + 2 + 2 * i])
    fulls[i] = tonumber(redis.call('GET', KEYS[first + i])) or 0
    spaces[i] = ARGV[place + 1 + 2 * i] * intervals[i] - math.max(fulls[i] - now, 0)
    if spaces[i] < intervals[i] and i ~= optional then empty = true end
  end
  if ARGV[place] == 'back' then
    for i = 1, count do
      if fulls[i] > 0 then put(KEYS[first + i], fulls[i] - intervals[i]) end
    end
  else
    for i = 1, count do
      local wait = math.max(intervals[i] - spaces[i], 0)
      if not empty and wait == 0 then
        put(KEYS[first + i], math.max(fulls[i], now) + intervals[i])
        spaces[i] = spaces[i] - intervals[i]
      end
      answer[#answer + 1] = math.max(math.floor(spaces[i] / intervals[i]), 0)
      answer[#answer + 1] = math.ceil(wait)
    end
  end
  place, first = place + 3 + 2 * count, first + count
end
return answer`;

export interface RedisStore extends Store {
  close(): void;
}

/** What is asked of Redis in this turn of the event loop. */
interface Asked {
  readonly kind: 'take' | 'back';
  readonly draws: readonly Draw[];
  /** Counted from 1; 0: none. */
  readonly optional: number;
  readonly resolve: (levels: readonly Level[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Others wait while a script runs. */
const mostAtOnce = 100;

/** Each call rejects where Redis does not answer in time. */
export function createRedisStore(url: string, timeoutMillis: number): RedisStore {
  const script = redisScript(url, lua, timeoutMillis);
  let waiting: Asked[] = [];

  const send = async (batch: readonly Asked[]): Promise<void> => {
    const keys: string[] = [];
    const args: (string | number)[] = [];
    for (const { kind, draws, optional } of batch) {
      args.push(kind, draws.length, optional);
      for (const { key, rate } of draws) {
        keys.push(key);
        args.push(rate.burst, rate.seconds * 1_000);
      }
    }
    try {
      const answer = await script.run(keys, args);
      if (!Array.isArray(answer)) throw new Error('Redis answered something else');
      let place = 0;
      const next = (): number => Number(answer[place++]);
      for (const { kind, draws, resolve } of batch) {
        resolve(kind === 'back' ? [] : draws.map(() => ({ left: next(), waitMillis: next() })));
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (let start = 0; start < all.length; start += mostAtOnce) {
      void send(all.slice(start, start + mostAtOnce));
    }
  };

  /** A call of its own for each attempt costs more than all the rest of counting. */
  const ask = (kind: Asked['kind'], draws: readonly Draw[], optional: number): Promise<readonly Level[]> =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ kind, draws, optional, resolve, reject });
    });

  return {
    take: (draws, optional) => ask('take', draws, optional === undefined ? 0 : optional + 1),
    giveBack: async (draws) => {
      await ask('back', draws, 0);
    },
    close: () => {
      script.close();
    },
  };
}
