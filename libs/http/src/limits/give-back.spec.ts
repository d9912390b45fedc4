/** Tests that a refund is sent with the next request, or on its own if no request follows. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { redisUrl, waitUntil } from '@muster/testing';
import { createRedisStore, type RedisStore } from './redis-store.ts';

const stores: RedisStore[] = [];
const openStore = async (): Promise<RedisStore> => {
  const store = createRedisStore(redisUrl(), 10_000);
  stores.push(store);
  // A new store rejects requests until it is connected to Redis.
  await waitUntil(() =>
    store.settle([{ ...cost, owed: 0 }]).then(
      () => true,
      () => false,
    ),
  );
  return store;
};
afterEach(() => {
  for (const store of stores.splice(0)) store.close();
});

let cost: { readonly key: string; readonly rate: { readonly burst: number; readonly seconds: number } };
beforeEach(() => {
  // The bucket refills one token an hour, so no token is added during a test.
  cost = { key: `{give-back}:${randomBytes(6).toString('hex')}`, rate: { burst: 3, seconds: 3_600 } };
});

const remainingTokensIn = async (store: RedisStore): Promise<number | undefined> =>
  (await store.settle([{ ...cost, owed: 0 }]))[0]?.remainingTokens;

describe('what is given back', () => {
  it('is there before the next question of the same process', async () => {
    const store = await openStore();
    for (let times = 0; times < 20; times += 1) {
      const [quota] = await store.take([cost]);
      expect([times, quota?.waitMillis, quota?.remainingTokens]).toEqual([times, 0, 2]);
      void store.refund([cost]);
    }
    expect(await remainingTokensIn(store)).toBe(3);
  });

  it('is counted as often as it was given, whoever asks first', async () => {
    const [store, other] = [await openStore(), await openStore()];
    await Promise.all([store.take([cost]), store.take([cost]), store.take([cost])]);
    expect(await remainingTokensIn(other)).toBe(0);
    void store.refund([cost]);
    void store.refund([cost]);
    expect(await remainingTokensIn(store)).toBe(2);
  });

  it('comes back by itself where nobody asks any more', async () => {
    const [store, other] = [await openStore(), await openStore()];
    await store.take([cost]);
    void store.refund([cost]);
    await waitUntil(async () => (await remainingTokensIn(other)) === 3);
  });
});
