/** Tests counting on a cluster, where a script reaches only some of the keys. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RedisCluster, startRedisCluster, waitUntil } from '@muster/testing';
import { createRedisCheck } from '../redis.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { createRedisStore } from './redis-store.ts';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(() => cluster.stop());

/** Enough organizations for each server to have some. */
const organizations = Array.from({ length: 24 }, (_, index) => `{calls:${index}}`);
/** The seconds per token, long enough that nothing is replenished during a test. */
const windowSeconds = 3_600;
const redisTimeoutMillis = 10_000;
const succeeds = (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => true,
    () => false,
  );

/**
 * Creates a limiter and waits until it has reached each Redis server. Until then, the limiter counts in the
 * process, as during an outage.
 */
async function openConnectedLimiter(): Promise<RateLimiter> {
  let isAway = false;
  const limiter = createRateLimiter({
    ...{ redisUrl: cluster.url, timeoutMillis: redisTimeoutMillis },
    onRedisAvailability: (is) => (isAway = is),
  });
  await waitUntil(async () => {
    const quick = { burst: 1, seconds: 0.001 };
    await Promise.all(organizations.map(async (tag) => limiter.take([{ key: `${tag}:reach`, rate: quick }])));
    return !isAway;
  });
  return limiter;
}

/** Returns the remaining tokens as Redis reports them. */
async function remainingTokensOf(keys: readonly string[], burst: number): Promise<(number | undefined)[]> {
  const store = createRedisStore(cluster.url, redisTimeoutMillis);
  const ask = () =>
    Promise.all(keys.map((key) => store.settle([{ key, rate: { burst, seconds: windowSeconds }, owed: 0 }])));
  await waitUntil(() => succeeds(ask()));
  const quotas = await ask();
  store.close();
  return quotas.map(([quota]) => quota?.remainingTokens);
}

describe('limits on a cluster', () => {
  it('count together over processes, each organization where it lies', async () => {
    const limiters = [await openConnectedLimiter(), await openConnectedLimiter()];
    const call = (limiter: RateLimiter | undefined) =>
      // All calls run in one turn of the event loop, so Redis receives one script call per organization.
      Promise.all(
        organizations.map(async (tag) =>
          limiter?.take([
            { key: `${tag}:token`, rate: { burst: 3, seconds: windowSeconds } },
            { key: `${tag}:organization`, rate: { burst: 5, seconds: windowSeconds } },
          ]),
        ),
      );
    for (const [index, lefts] of [[2, 4] as const, [1, 3] as const, [0, 2] as const].entries()) {
      for (const quotas of await call(limiters[index % 2])) {
        expect(quotas).toMatchObject([
          { remainingTokens: lefts[0], waitMillis: 0 },
          { remainingTokens: lefts[1], waitMillis: 0 },
        ]);
      }
    }
    for (const [token, organization] of (await call(limiters[1])).map((quotas) => quotas ?? [])) {
      expect([token?.waitMillis, organization?.remainingTokens]).toEqual([expect.any(Number), 2]);
      expect(token?.waitMillis).toBeGreaterThan(0);
    }
    await Promise.all(limiters.map((limiter) => limiter.close()));
    const sizes = await Promise.all(cluster.servers.map((server) => server.sendCommand('DBSIZE')));
    expect(sizes.filter((size) => /^:[1-9]/.test(size))).toHaveLength(cluster.servers.length);
  });

  it('are told what was taken far from the end of a bucket, of all organizations at once', async () => {
    const limiter = await openConnectedLimiter();
    const keys = organizations.map((tag) => `${tag}:far`);
    for (let call = 0; call < 3; call += 1) {
      await Promise.all(
        keys.map(async (key) => limiter.take([{ key, rate: { burst: 1_000, seconds: windowSeconds } }])),
      );
    }
    await limiter.close();
    expect(await remainingTokensOf(keys, 1_000)).toEqual(keys.map(() => 997));
  });

  it('fail in their time where a server hangs, and go on for the organizations of the others', async () => {
    const store = createRedisStore(cluster.url, 1_000);
    const failed = async () => {
      const all = await Promise.all(
        organizations.map((tag) =>
          succeeds(
            store.settle([{ key: `${tag}:hang`, rate: { burst: 1, seconds: windowSeconds }, owed: 0 }]),
          ),
        ),
      );
      return all.filter((well) => !well).length;
    };
    await waitUntil(async () => (await failed()) === 0);
    cluster.servers[1]?.suspend();
    const [without, all] = [await failed(), organizations.length];
    cluster.servers[1]?.resume();
    expect(without).toBeGreaterThan(0);
    expect(without).toBeLessThan(all);
    await waitUntil(async () => (await failed()) === 0);
    store.close();
  });

  it('are seen as away where a server is gone', async () => {
    const health = createRedisCheck(cluster.url);
    await waitUntil(() => succeeds(health.check.run()));
    await cluster.servers[1]?.kill();
    await waitUntil(async () => !(await succeeds(health.check.run())));
    health.close();
  });
});
