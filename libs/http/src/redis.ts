/** Redis as a service sees it that can do without: away means degraded, and no caller waits for it. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { type Check } from './health.ts';

export interface RedisCheck {
  readonly check: Check;
  close(): void;
}

/** A connection that neither queues nor retries a command while Redis is away. */
function impatientRedis(url: string, commandTimeout?: number): Redis {
  const redis = new Redis(url, {
    lazyConnect: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // It keeps the process that long, also where there is no connection to end.
    disconnectTimeout: 100,
    retryStrategy: (attempt) => Math.min(attempt * 200, 2_000),
    ...(commandTimeout !== undefined && { commandTimeout }),
  });
  // Without a listener a refused connection would end the process; the check says the same in its own time.
  redis.on('error', () => undefined);
  return redis;
}

/** The least that BullMQ recommends; CI runs the specs with it. */
export const leastRedis = '6.2';

/** A sentence for a Redis that is too old; undefined for one that will do or does not say. Throws where it is away. */
async function faultOfRedis(redis: Redis): Promise<string | undefined> {
  const version = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1];
  if (version === undefined || version.localeCompare(leastRedis, 'en', { numeric: true }) >= 0)
    return undefined;
  return `this needs Redis ${leastRedis} or newer, and the server is Redis ${version}`;
}

/** A check with a connection of its own. */
export function redisCheck(url: string): RedisCheck {
  const redis = impatientRedis(url);
  return {
    check: {
      name: 'redis',
      needed: false,
      run: async () => {
        await redis.ping();
        return undefined;
      },
      faultForGood: async () => {
        if (redis.status !== 'ready') await once(redis, 'ready');
        return faultOfRedis(redis);
      },
    },
    close: () => {
      redis.disconnect();
    },
  };
}

/** A Lua script, run where the data are. */
export interface RedisScript {
  /** Rejects where Redis is away, and after the time it was given. */
  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  close(): void;
}

/** A script with a connection of its own; a call that takes longer than `timeoutMillis` has failed, whatever becomes of it. */
export function redisScript(url: string, lua: string, timeoutMillis: number): RedisScript {
  const redis = impatientRedis(url, timeoutMillis);
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    run: async (keys, args) => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        // A Redis that was started anew does not know it yet.
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return redis.eval(lua, keys.length, ...keys, ...args);
      }
    },
    close: () => {
      redis.disconnect();
    },
  };
}
