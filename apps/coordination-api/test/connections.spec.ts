/** Missing Postgres connections: errors distinguish an unavailable server from an exhausted pool. */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { waitUntil, type BreakableRelay, startBreakableRelay } from '@muster/testing';
import { pino } from 'pino';
import { createApp, type CoordinationApi } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { useApi } from './api.ts';

const api = useApi();
let relay: BreakableRelay;
let one: CoordinationApi;
let url: string;
beforeAll(async () => {
  relay = await startBreakableRelay(api.world.database.url);
  const config = readConfig({ DATABASE_URL: relay.url, DATABASE_POOL: '2' });
  one = createApp(config, pino({ level: 'silent' }));
  url = await one.service.app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await one.service.stop();
  await one.close();
  await relay.close();
});
afterEach(() => relay.restore());

const callIdentity = async (token: string) => {
  const answer = await fetch(`${url}/api/session/identity`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  const body = (await answer.json()) as { details?: { reason?: string } };
  return [answer.status, body.details?.reason, answer.headers.get('retry-after')];
};
const served = [200, undefined, null];

it('all connections taken: whoever finds none in time is told that it is busy, not that Postgres is away', async () => {
  const { ana } = await api.org();
  expect(await callIdentity(ana.me.token)).toEqual(served);
  const held = [await one.pool.connect(), await one.pool.connect()];
  try {
    expect(await callIdentity(ana.me.token)).toEqual([503, 'overload', '1']);
    // A token that is not cached must be looked up first.
    const { ben } = await api.org();
    expect(await callIdentity(ben.me.token)).toEqual([503, 'overload', '1']);
  } finally {
    for (const client of held) client.release();
  }
  expect(await callIdentity(ana.me.token)).toEqual(served);
});

it('Postgres away: that is said, whether or not the caller is known', async () => {
  const { ana, ben } = await api.org();
  expect(await callIdentity(ana.me.token)).toEqual(served);
  relay.cut();
  await waitUntil(() => one.pool.totalCount === 0);
  expect(await callIdentity(ana.me.token)).toEqual([503, 'database', '1']);
  expect(await callIdentity(ben.me.token)).toEqual([503, 'database', '1']);
  relay.restore();
  await waitUntil(async () => (await callIdentity(ana.me.token))[0] === 200);
});
