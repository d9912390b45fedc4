/** Redis as a service sees it that can do without: away means degraded, and no caller waits for it. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { hashTagOf, mastersOf, openRedis, parseRedisUrl, type RedisClient } from '@muster/redis';
import { type Check } from './health.ts';

export interface RedisCheck {
  readonly check: Check;
  close(): void;
}

/** A connection that neither queues nor retries a command while Redis is away. */
function impatientRedis(url: string, commandTimeout?: number): RedisClient {
  const redis = openRedis(url, {
    waits: false,
    // It keeps the process that long, also where there is no connection to end.
    disconnectTimeout: 100,
    ...(commandTimeout !== undefined && { commandTimeout }),
  });
  // Without a listener a refused connection would end the process; the check says the same in its own time.
  redis.on('error', () => undefined);
  return redis;
}

/** The least that BullMQ recommends; CI runs the specs with it. */
export const leastRedis = '6.2';

/** A sentence for a Redis that is too old; undefined for one that will do or does not say. Throws where it is away. */
async function faultOfRedis(redis: RedisClient): Promise<string | undefined> {
  const told = await Promise.all(mastersOf(redis).map((master) => master.info('server')));
  const old = told
    .map((text) => /^redis_version:(\S+)/m.exec(text)?.[1] ?? leastRedis)
    .find((version) => version.localeCompare(leastRedis, 'en', { numeric: true }) < 0);
  return old === undefined
    ? undefined
    : `this needs Redis ${leastRedis} or newer, and the server is Redis ${old}`;
}

/** Rejects unless each server that is written to answers, and a cluster says that it has all its slots. */
async function pingAll(redis: RedisClient): Promise<void> {
  await Promise.all(
    mastersOf(redis).map(async (master) => {
      await master.ping();
      if (!redis.isCluster) return;
      const said = await master.cluster('INFO');
      if (!said.includes('cluster_state:ok')) throw new Error('the cluster is not whole');
    }),
  );
}

/** A check with a connection of its own. */
export function redisCheck(url: string): RedisCheck {
  const redis = impatientRedis(url);
  return {
    check: {
      name: 'redis',
      needed: false,
      run: async () => {
        await pingAll(redis);
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
  /**
   * Rejects where Redis is away, and after the time it was given. Keys of one call have one place: see
   * {@link RedisScript.placeOf}.
   */
  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** Keys with the same place can be asked for in one call; one Redis has one place for all. */
  readonly placeOf: (key: string) => string;
  close(): void;
}

/** A script with a connection of its own; a call that takes longer than `timeoutMillis` has failed, whatever becomes of it. */
export function redisScript(url: string, lua: string, timeoutMillis: number): RedisScript {
  const redis = impatientRedis(url, timeoutMillis);
  const isCluster = parseRedisUrl(url).kind === 'cluster';
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
    placeOf: isCluster ? hashTagOf : () => '',
    close: () => {
      redis.disconnect();
    },
  };
}
