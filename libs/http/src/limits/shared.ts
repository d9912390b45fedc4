/**
 * Guards access to the Redis that counts calls. While Redis is unavailable or hangs, most requests to it are
 * skipped.
 */
import { monotonicMillis } from './rate.ts';
import { createRedisStore, type RedisStore } from './redis-store.ts';

export interface SharedStoreOptions {
  readonly redisUrl: string;
  /** The time after which Redis counts as unavailable, in milliseconds. */
  readonly timeoutMillis: number;
  /** Called once when Redis becomes unavailable, and once when it recovers. */
  readonly onRedisAvailability: (isAway: boolean, error?: unknown) => void;
}

export interface SharedStore {
  /**
   * Sends a request to Redis. Returns undefined while Redis is unavailable. Then only one request a second is
   * sent, so that most callers do not wait for a Redis that hangs.
   */
  callRedis<Answer>(request: (redis: RedisStore) => Promise<Answer>): Promise<Answer | undefined>;
  isRedisAway(): boolean;
  /** Returns the cluster slot of a key. Keys in different slots need separate requests to Redis. */
  readonly clusterSlotOf: (key: string) => string;
  close(): void;
}

const retryDelayMillis = 1_000;

export function createSharedStore({
  redisUrl,
  timeoutMillis,
  onRedisAvailability,
}: SharedStoreOptions): SharedStore {
  const redis = createRedisStore(redisUrl, timeoutMillis);
  let isAway = false;
  let askAgainAt = 0;
  return {
    callRedis: async (question) => {
      const now = monotonicMillis();
      if (now < askAgainAt) return undefined;
      if (isAway) askAgainAt = now + retryDelayMillis;
      try {
        const answer = await question(redis);
        if (isAway) onRedisAvailability(false);
        [isAway, askAgainAt] = [false, 0];
        return answer;
      } catch (error) {
        if (!isAway) onRedisAvailability(true, error);
        [isAway, askAgainAt] = [true, monotonicMillis() + retryDelayMillis];
        return undefined;
      }
    },
    isRedisAway: () => isAway,
    clusterSlotOf: redis.clusterSlotOf,
    close: () => {
      redis.close();
    },
  };
}
