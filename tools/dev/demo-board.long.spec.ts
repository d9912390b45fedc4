import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connect } from '@muster/client';
import { createPool, type Pool } from '@muster/driver';
import { type AppProcess, startApp, useWorld } from '@muster/testing';
import { makeDemoBoard } from './demo-board.ts';
import { historyWeeks } from './demo-history.ts';
import { demoStories } from './demo-stories.ts';
import { type Tokens } from './dev-file.ts';

const world = useWorld({});
let api: AppProcess;
let pool: Pool;
beforeAll(async () => {
  pool = createPool({ url: world.database.url, role: null, max: 1 });
  api = await startApp('apps/coordination-api/src/main.ts', { DATABASE_URL: world.database.url });
});
afterAll(async () => {
  await pool.end();
  await api.stop();
});

/** Makes the board of a new organization, and returns its owner with a client. */
async function makeBoard(baseUrl: string) {
  const { ana, ben, chloe, dan, robo } = await world.org();
  const [owner, admin, member, viewer, agent] = [ana, ben, chloe, dan, robo].map(({ me }) => me.token);
  await makeDemoBoard(baseUrl, { owner, admin, member, viewer, agent, platform: '' } as Tokens, pool);
  return { ana, client: connect({ baseUrl: api.url, token: ana.me.token }) };
}

it('makes a board on which one of each kind waits for its owner', async () => {
  const { ana, client } = await makeBoard(api.url);
  const { items: reviews } = await client.reviewers.listForUser({ verdict: 'pending' });
  expect(reviews.map(({ storyTitle }) => storyTitle)).toEqual(['Serve images in the size they are shown']);
  const { items: told } = await client.notifications.list({});
  expect(told.filter(({ kind }) => kind === 'mention').map(({ actor }) => actor.name)).toEqual(['Ben']);
  const { items: offered } = await client.deliveryExecutions.list({ state: ['offered'] });
  expect(offered.map(({ offer }) => offer?.toMemberId)).toEqual([ana.me.memberId]);
  const { items: rework } = await client.deliveryExecutions.list({ needsRework: true });
  expect(rework.map(({ story }) => story?.title)).toEqual(['Filters remember their place when going back']);
  const [now, week] = [Date.now(), 7 * 86_400_000];
  const span = { from: new Date(now - historyWeeks * week).toISOString(), to: new Date(now).toISOString() };
  const { weeks, totals } = await client.projects.deliveryHealth({ projectId: 'WEB', ...span });
  // Unless the period begins on a Monday, it touches one calendar week more than its length in weeks.
  expect(weeks.filter(({ leadTime }) => leadTime.count > 0).length).toBeGreaterThanOrEqual(historyWeeks);
  expect(Math.min(...(['rework', 'waits'] as const).map((metric) => totals[metric].count))).toBeGreaterThan(
    2,
  );
  const usage = await client.usage.summary({ groupBy: 'week', ...span });
  expect(usage.items.filter(({ costMicros }) => costMicros > 0).length).toBeGreaterThan(historyWeeks / 2);
  const { items: budgets } = await client.budgets.list({});
  expect(budgets.map(({ state, spentMicros }) => [state, spentMicros > 0])).toEqual([['ok', true]]);
  // The leases of the demo last 30 s and are not renewed. Here they expire immediately.
  await world.rows(`update leases set expires_at = now() - interval '1 second' where holder is not null`);
  const { items: stalled } = await client.deliveryExecutions.list({ state: ['stalled'] });
  expect(stalled.map(({ story }) => story?.title)).toEqual(['Offer a passkey on the thank-you page']);
});

it('is made although the API refuses calls for a moment, each call once', async () => {
  const refused = new Set<string>();
  // Refuses the first attempt of the first calls with 503, and forwards all others.
  const refusedCalls = 10;
  const busy = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const key = String(request.headers['idempotency-key'] ?? request.url);
      if (!refused.has(key) && refused.size < refusedCalls) {
        refused.add(key);
        const error = { code: 'unavailable', message: 'The database is unavailable.', status: 503 };
        response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '0' });
        response.end(
          JSON.stringify({ ...error, requestId: 'r', details: { reason: 'away', retryable: true } }),
        );
        return;
      }
      const { authorization = '' } = request.headers;
      const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key };
      void fetch(`${api.url}${request.url ?? ''}`, {
        method: 'POST',
        headers,
        body: Buffer.concat(chunks),
      }).then(async (answer) => {
        response.writeHead(answer.status, { 'Content-Type': 'application/json' });
        response.end(await answer.text());
      });
    });
  });
  await once(busy.listen(0, '127.0.0.1'), 'listening');
  try {
    const { client } = await makeBoard(`http://127.0.0.1:${(busy.address() as AddressInfo).port}`);
    const { items } = await client.stories.list({ projectId: 'WEB', limit: 200 });
    expect(items.length).toBeGreaterThan(demoStories.length);
  } finally {
    busy.close();
  }
  expect(refused.size).toBe(refusedCalls);
});
