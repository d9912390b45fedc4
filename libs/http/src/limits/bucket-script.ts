/**
 * Runs the Redis script that takes tokens from buckets, by the clock of Redis. One call answers all requests
 * of a batch.
 */
import { createRedisScript } from '../redis.ts';
import { refillIntervalMillis, type Quota, quotaOf, type Rate } from './rate.ts';
import { type Cost } from './store.ts';

/**
 * The script does the same as memory-store.ts, for one request after another. KEYS contains each bucket once,
 * and each is read and written once. ARGV starts with the burst and the refill interval in milliseconds of
 * each bucket. A line of numbers per request follows: 1 to take a token or 0 not to, and the index of the
 * bucket that may be empty (0: none). Then it has for each bucket the index of its key and the number of
 * tokens taken before, unconditionally (negative: returned). The script returns for each bucket of each
 * request the milliseconds until it is full, and the wait of a bucket that was empty. Numbers are formatted
 * explicitly, since Lua would write large ones as 1.7e+12.
 */
const lua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stored, full, burst, interval, answer = {}, {}, {}, {}, {}
for b, key in ipairs(KEYS) do
  burst[b], interval[b] = tonumber(ARGV[2 * b - 1]), tonumber(ARGV[2 * b])
  stored[b] = math.max(tonumber(redis.call('GET', key)) or 0, now)
  -- Farther ahead it was written by a clock that was: of a master before, or before it was set back.
  full[b] = math.min(stored[b], now + 2 * burst[b] * interval[b])
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

/** A cost, with the number of tokens that this process has taken and not yet reported to Redis. */
export interface OwedCost extends Cost {
  readonly owed: number;
}

/** A request to take tokens from buckets whose keys are in one cluster slot. */
export interface BucketRequest {
  /** 1 to take one token of each bucket; 0 to take none. */
  readonly wanted: 0 | 1;
  readonly costs: readonly OwedCost[];
  /** The index of the bucket that may be empty, counted from 1; 0 means none. */
  readonly optional: number;
  readonly resolve: (quotas: readonly Quota[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface BucketScript {
  /**
   * Sends the requests of one cluster slot in one call of the script and resolves each request. If the call
   * fails, it rejects all of these requests and then its own promise.
   */
  readonly run: (batch: readonly BucketRequest[]) => Promise<void>;
  readonly clusterSlotOf: (key: string) => string;
  readonly close: () => void;
}

/** Builds the keys and arguments of the script. */
function scriptCallOf(batch: readonly BucketRequest[]): { keys: string[]; args: (string | number)[] } {
  const buckets = new Map<string, { readonly place: number; readonly rate: Rate }>();
  const placeOfBucket = ({ key, rate }: Cost): number => {
    const known = buckets.get(key) ?? { place: buckets.size + 1, rate };
    if (known.place > buckets.size) buckets.set(key, known);
    return known.place;
  };
  const questions = batch.map(({ wanted, costs, optional }) =>
    costs.reduce((line, cost) => `${line} ${placeOfBucket(cost)} ${cost.owed}`, `${wanted} ${optional}`),
  );
  const rates = Array.from(buckets.values(), ({ rate }) => [rate.burst, refillIntervalMillis(rate)]).flat();
  return { keys: [...buckets.keys()], args: [...rates, ...questions] };
}

/** Resolves each request with its part of the script's answer, in the order of the requests. */
function resolveAll(batch: readonly BucketRequest[], answer: unknown): void {
  if (!Array.isArray(answer)) throw new Error('Redis did not answer the rate limit script with a list');
  let place = 0;
  const next = (): number => Number(answer[place++]);
  for (const { costs, resolve } of batch)
    resolve(costs.map(({ rate }) => ({ ...quotaOf(rate, next(), 0), waitMillis: next() })));
}

export function openBucketScript(url: string, timeoutMillis: number): BucketScript {
  const script = createRedisScript(url, lua, timeoutMillis);
  return {
    run: async (batch) => {
      const { keys, args } = scriptCallOf(batch);
      try {
        resolveAll(batch, await script.run(keys, args));
      } catch (error) {
        for (const { reject } of batch) reject(error);
        throw error;
      }
    },
    clusterSlotOf: script.clusterSlotOf,
    close: () => {
      script.close();
    },
  };
}
