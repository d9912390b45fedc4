/** Tests that usage expires in time, whatever happens to a clock. */
import { randomBytes } from 'node:crypto';
import { afterEach, expect, it, jest } from '@jest/globals';
import { openRedis } from '@muster/redis';
import { redisUrl, waitUntil } from '@muster/testing';
import { createMemoryStore } from './memory-store.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { type Quota } from './rate.ts';
import { createRedisStore } from './redis-store.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const rate = { burst: 10, seconds: 1 };
const key = (): string => `{clock}:${randomBytes(6).toString('hex')}`;

it.each([
  ['of one process', () => createRateLimiter(undefined)],
  ['in memory', createMemoryStore],
])('lets callers of limits %s in where the clock of the machine was an hour ahead', async (_where, make) => {
  const now = Date.now.bind(Date);
  let aheadMillis = 3_600_000;
  jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMillis);
  const [limits, cost] = [make(), { key: key(), rate }];
  await limits.take([cost]);
  aheadMillis = 0;
  expect((await limits.take([cost]))[0]).toMatchObject({ remainingTokens: 8, waitMillis: 0 });
});

it('lets callers in soon where the clock of Redis was an hour ahead', async () => {
  const [redis, store] = [
    openRedis(redisUrl(), { waitsWhileUnreachable: true }),
    createRedisStore(redisUrl(), 5_000),
  ];
  try {
    const cost = { key: key(), rate };
    await redis.set(cost.key, Date.now() + 3_600_000);
    // The store refuses calls until it has connected.
    let quota: Quota | undefined;
    await waitUntil(async () => {
      [quota] = await store.take([cost]).catch(() => []);
      return quota !== undefined;
    });
    expect(quota?.waitMillis).toBeLessThanOrEqual(11_000);
    // The expiry time of the key in Redis is limited, although the stored value lay an hour ahead.
    const left = await redis.pttl(cost.key);
    expect([left > 0, left <= 20_000]).toEqual([true, true]);
  } finally {
    redis.disconnect();
    store.close();
  }
});
