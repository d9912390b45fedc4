import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Client, createClient, httpTransport } from '@muster/client';
import { type AppProcess, startApp, useWorld } from '@muster/testing';
import { makeDemoBoard } from './demo-board.ts';

const world = useWorld({});
let api: AppProcess;
beforeAll(async () => {
  api = await startApp('apps/coordination-api/src/main.ts', { DATABASE_URL: world.database.url });
});
afterAll(() => api.stop());

it('makes a board on which one of each kind waits for its owner', async () => {
  const { ana, ben, chloe, dan, robo } = await world.org();
  await makeDemoBoard(api.url, {
    ...{ owner: ana.me.token, admin: ben.me.token, member: chloe.me.token, viewer: dan.me.token },
    ...{ agent: robo.me.token, platform: '' },
  });
  const client: Client = createClient(httpTransport({ baseUrl: api.url, token: ana.me.token }));
  const { items: reviews } = await client.reviewers.listForUser({ verdict: 'pending' });
  expect(reviews.map(({ storyTitle }) => storyTitle)).toEqual(['Serve images in the size they are shown']);
  const { items: told } = await client.notifications.list({});
  expect(told.filter(({ kind }) => kind === 'mention').map(({ actor }) => actor.name)).toEqual(['Ben']);
  const { items: offered } = await client.deliveryExecutions.list({ state: ['offered'] });
  expect(offered.map(({ offer }) => offer?.toMemberId)).toEqual([ana.me.memberId]);
  const { items: rework } = await client.deliveryExecutions.list({ needsRework: true });
  expect(rework.map(({ story }) => story?.title)).toEqual(['Filters remember their place when going back']);
  // Its lease lasts 30 s, which nothing renews.
  await world.rows(`update leases set expires_at = now() - interval '1 second' where holder is not null`);
  const { items: stalled } = await client.deliveryExecutions.list({ state: ['stalled'] });
  expect(stalled.map(({ story }) => story?.title)).toEqual(['Offer a passkey on the thank-you page']);
});
