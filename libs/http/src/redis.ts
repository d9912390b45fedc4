/**
 * Opens Redis for services that can work without it. If it is unavailable, the service is degraded, and no
 * caller waits.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { hashTagOf, mastersOf, openRedis, parseRedisUrl, type RedisClient } from '@muster/redis';
import { type HealthCheck } from './health.ts';

export interface RedisCheck {
  readonly check: HealthCheck;
  close(): void;
}

/** Opens a connection that neither queues nor retries commands while Redis is unavailable. */
function openFailFastRedis(url: string, commandTimeout?: number): RedisClient {
  const redis = openRedis(url, {
    waitsWhileUnreachable: false,
    // Disconnecting keeps the process running for this many milliseconds, even without a connection.
    disconnectTimeout: 100,
    ...(commandTimeout !== undefined && { commandTimeout }),
  });
  // Without an error listener, a refused connection would end the process. The health check reports the
  // problem.
  redis.on('error', () => undefined);
  return redis;
}

/** The lowest supported version, which is the least that BullMQ recommends. CI runs the specs with it. */
export const minRedisVersion = '6.2';

/**
 * Returns a sentence if Redis is too old; undefined if it is suitable or does not report a version. Throws if
 * it is unavailable.
 */
async function findVersionFault(redis: RedisClient): Promise<string | undefined> {
  const told = await Promise.all(mastersOf(redis).map((master) => master.info('server')));
  const old = told
    .map((text) => /^redis_version:(\S+)/m.exec(text)?.[1] ?? minRedisVersion)
    .find((version) => version.localeCompare(minRedisVersion, 'en', { numeric: true }) < 0);
  return old === undefined
    ? undefined
    : `Redis ${minRedisVersion} or newer is required, and the server is Redis ${old}`;
}

/** Rejects unless every primary answers, and a cluster reports that all its hash slots are served. */
async function pingAll(redis: RedisClient): Promise<void> {
  await Promise.all(
    mastersOf(redis).map(async (master) => {
      await master.ping();
      if (!redis.isCluster) return;
      const said = await master.cluster('INFO');
      if (!said.includes('cluster_state:ok'))
        throw new Error('the Redis cluster is incomplete: some slots have no server');
    }),
  );
}

/** Creates a health check with a connection of its own. */
export function createRedisCheck(url: string): RedisCheck {
  const redis = openFailFastRedis(url);
  return {
    check: {
      name: 'redis',
      needed: false,
      run: async () => {
        await pingAll(redis);
        return undefined;
      },
      findPermanentFault: async () => {
        if (redis.status !== 'ready') await once(redis, 'ready');
        return findVersionFault(redis);
      },
    },
    close: () => {
      redis.disconnect();
    },
  };
}

/** A Lua script that runs in Redis. */
export interface RedisScript {
  /**
   * Runs the script. Rejects if Redis is unavailable or the timeout has passed. All keys of one call must be
   * in the same cluster slot: see {@link RedisScript.clusterSlotOf}.
   */
  run(keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /**
   * Returns the cluster slot of a key. One call may only use keys of the same slot. On a single Redis server,
   * all keys have the same slot.
   */
  readonly clusterSlotOf: (key: string) => string;
  close(): void;
}

/**
 * Creates a script with a connection of its own. A call that takes longer than `timeoutMillis` fails, even if
 * Redis completes it.
 */
export function createRedisScript(url: string, lua: string, timeoutMillis: number): RedisScript {
  const redis = openFailFastRedis(url, timeoutMillis);
  const isCluster = parseRedisUrl(url).kind === 'cluster';
  const sha = createHash('sha1').update(lua).digest('hex');
  return {
    run: async (keys, args) => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        // A restarted Redis does not have the script yet.
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return redis.eval(lua, keys.length, ...keys, ...args);
      }
    },
    clusterSlotOf: isCluster ? hashTagOf : () => '',
    close: () => {
      redis.disconnect();
    },
  };
}
