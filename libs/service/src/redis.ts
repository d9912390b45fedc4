/** Redis as health sees it: away means degraded, never not ready. */
import { Redis } from 'ioredis';
import { type Check } from './health.ts';

export interface RedisCheck {
  readonly check: Check;
  close(): void;
}

/** A check with a connection of its own, which neither queues nor retries a command while Redis is away. */
export function redisCheck(url: string): RedisCheck {
  const redis = new Redis(url, {
    lazyConnect: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 200, 2_000),
  });
  // Without a listener a refused connection would end the process; the check says the same in its own time.
  redis.on('error', () => undefined);
  return {
    check: {
      name: 'redis',
      needed: false,
      run: async () => {
        await redis.ping();
        return undefined;
      },
    },
    close: () => {
      redis.disconnect();
    },
  };
}
