/** Redis as counting needs it: asked while it answers, and left alone while it is away or hangs. */
import { millisNow } from './rate.ts';
import { createRedisStore, type RedisStore } from './redis-store.ts';

export interface SharedOptions {
  readonly redisUrl: string;
  /** After this Redis is taken for away. */
  readonly timeoutMillis: number;
  /** Told once when Redis is lost, and once when it is back. */
  readonly onRedis: (isAway: boolean, error?: unknown) => void;
}

export interface SharedStore {
  /** Undefined while Redis is away. Then it is asked again once a second, so that not everybody waits for one that hangs. */
  ask<Answer>(question: (redis: RedisStore) => Promise<Answer>): Promise<Answer | undefined>;
  isAway(): boolean;
  /** Questions about keys of several places are several questions. */
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
