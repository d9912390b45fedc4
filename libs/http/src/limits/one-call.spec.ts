/**
 * Tests that requests made during a running call are sent together in the next one, since a call costs more
 * than many requests.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { redisUrl, waitUntil } from '@muster/testing';
import { createRedisStore, type RedisStore } from './redis-store.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0).reverse()) await end();
});

/** Opens a proxy to Redis that counts script calls and can hold back responses. */
async function openProxy() {
  const { hostname, port, pathname } = new URL(redisUrl());
  const sockets = new Set<Socket>();
  const kept: (() => void)[] = [];
  let calls = 0;
  let isHeld = false;
  const server = createServer((here) => {
    const there = connect(Number(port), hostname);
    for (const socket of [here, there]) sockets.add(socket.on('error', () => undefined));
    here.on('data', (bytes: Buffer) => {
      calls += bytes.toString('latin1').split('\r\nevalsha\r\n').length - 1;
      there.write(bytes);
    });
    there.on('data', (bytes: Buffer) => {
      if (isHeld) kept.push(() => here.write(bytes));
      else here.write(bytes);
    });
    here.on('close', () => there.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    calls: () => calls,
    hold: () => (isHeld = true),
    letGo: () => {
      isHeld = false;
      for (const send of kept.splice(0)) send();
    },
  };
}

const cost = () => ({
  key: `{one-call}:${randomBytes(6).toString('hex')}`,
  rate: { burst: 30, seconds: 3_600 },
});

async function storeAt(url: string, timeoutMillis: number): Promise<RedisStore> {
  const store = createRedisStore(url, timeoutMillis);
  cleanups.push(() => {
    store.close();
  });
  // A new store rejects requests until it is connected to Redis. On a slow machine, Redis may also answer
  // late.
  await waitUntil(() =>
    store.take([cost()]).then(
      () => true,
      () => false,
    ),
  );
  return store;
}

/** Makes one request after another, each in a separate turn of the event loop. */
async function askByTurns(store: RedisStore, about: ReturnType<typeof cost>, times: number) {
  const asked = [];
  for (let time = 0; time < times; time += 1) {
    asked.push(store.take([about]));
    await turn();
    await turn();
  }
  return asked;
}

describe('questions about one place', () => {
  it('wait for the call that is under way, and go in one call together', async () => {
    const way = await openProxy();
    const store = await storeAt(way.url, 60_000);
    const before = way.calls();
    way.hold();
    const about = cost();
    const asked = await askByTurns(store, about, 20);
    await waitUntil(() => Promise.resolve(way.calls() > before));
    expect(way.calls() - before).toBe(1);
    way.letGo();
    const left = (await Promise.all(asked)).map(([quota]) => quota?.remainingTokens);
    expect(left).toEqual(Array.from({ length: 20 }, (_, index) => 29 - index));
    expect(way.calls() - before).toBe(2);
  });

  it('fail with the call that is under way: none waits twice for a Redis that hangs', async () => {
    const way = await openProxy();
    const store = await storeAt(way.url, 500);
    const before = way.calls();
    way.hold();
    const outcomes = await Promise.allSettled(await askByTurns(store, cost(), 20));
    expect(outcomes.map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
    expect(way.calls() - before).toBe(1);
  });
});
