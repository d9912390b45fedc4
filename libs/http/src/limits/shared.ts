/**
 * Guards access to the Redis that counts calls. While Redis is unavailable or hangs, most requests to it are
 * skipped.
 */
import { millisNow } from './rate.ts';
import { createRedisStore, type RedisStore } from './redis-store.ts';

export interface SharedOptions {
  readonly redisUrl: string;
  /** The time after which Redis counts as unavailable, in milliseconds. */
  readonly timeoutMillis: number;
  /** Called once when Redis becomes unavailable, and once when it recovers. */
  readonly onRedis: (isAway: boolean, error?: unknown) => void;
}

export interface SharedStore {
  /**
   * Sends a request to Redis. Returns undefined while Redis is unavailable. Then only one request a second is
   * sent, so that most callers do not wait for a Redis that hangs.
   */
  ask<Answer>(question: (redis: RedisStore) => Promise<Answer>): Promise<Answer | undefined>;
  isAway(): boolean;
  /** Returns the cluster slot of a key. Keys in different slots need separate requests to Redis. */
  readonly placeOf: (key: string) => string;
  close(): void;
}

const askAgainMillis = 1_000;

export function createSharedStore({ redisUrl, timeoutMillis, onRedis }: SharedOptions): SharedStore {
  const redis = createRedisStore(redisUrl, timeoutMillis);
  let isAway = false;
  let askAgainAt = 0;
  return {
    ask: async (question) => {
      const now = millisNow();
      if (now < askAgainAt) return undefined;
      if (isAway) askAgainAt = now + askAgainMillis;
      try {
        const answer = await question(redis);
        if (isAway) onRedis(false);
        [isAway, askAgainAt] = [false, 0];
        return answer;
      } catch (error) {
        if (!isAway) onRedis(true, error);
        [isAway, askAgainAt] = [true, millisNow() + askAgainMillis];
        return undefined;
      }
    },
    isAway: () => isAway,
    placeOf: redis.placeOf,
    close: () => {
      redis.close();
    },
  };
}
