/** Webhooks with several workers, new secrets, pauses and replays. */
import { type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { type Received, verify } from './receiver.ts';
import { numbersUpTo, useWebhooks } from './webhook-world.ts';

const hooks = useWebhooks();

describe('several workers', () => {
  it('send each message once', async () => {
    await hooks.createWebhook();
    await hooks.createWebhook({ order: 'strict', url: `${hooks.receiver.url}/strict` });
    for (let nth = 0; nth < 3; nth += 1) hooks.startWorker();
    await hooks.createStories(30);
    await hooks.waitForArrivals(60);
    for (const [path, of] of Map.groupBy(hooks.receiver.received, (one) => one.path)) {
      expect(of.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(numbersUpTo(30));
      if (path.endsWith('strict')) expect(of.map(({ seq }) => seq)).toEqual(numbersUpTo(30));
    }
  });

  it('take over from one that died in the middle, with the same id; what that one says later counts no more', async () => {
    const { webhook } = await hooks.createWebhook();
    const held: ServerResponse[] = [];
    hooks.receiver.answer((response) => void held.push(response));
    const first = hooks.startWorker();
    await hooks.createStories(1);
    await hooks.waitForArrivals(1);
    // Simulates a worker whose ownership of the endpoint has timed out.
    await hooks.world.rows(
      `update webhooks set worker_until = now() - interval '1 s' where id = $1`,
      webhook.id,
    );
    hooks.receiver.answer(200);
    hooks.startWorker();
    await hooks.waitForArrivals(2);
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).lastSuccessAt !== null);
    for (const response of held) {
      response.statusCode = 500;
      response.end();
    }
    await first.stop();
    expect(hooks.receiver.received.map(({ id }) => id)).toEqual([
      hooks.receiver.received[0]?.id,
      hooks.receiver.received[0]?.id,
    ]);
    const { items } = await hooks.people.ana.webhooks.deliveries.list({ webhookId: webhook.id });
    expect(items).toMatchObject([{ state: 'delivered', tries: [{ status: 200 }] }]);
    expect((await hooks.stateOf(webhook.id)).failing).toBe(0);
  });

  it('count a try once, also where they say it again since they did not hear that it was kept', async () => {
    const { webhook } = await hooks.createWebhook();
    await hooks.createStories(1);
    await hooks.withTurns(webhook.id, async (turn) => {
      const [message] = (await turn([]))?.readyMessages ?? [];
      if (message === undefined) throw new Error('nothing is due');
      const attempt = { at: new Date().toISOString(), status: 503, ms: 3, error: null };
      const sent = [{ message, attempt, answer: 'away', retryAfterSeconds: null }];
      await turn(sent);
      await turn(sent);
      const { items } = await hooks.people.ana.webhooks.deliveries.list({ webhookId: webhook.id });
      expect(items.map(({ tries }) => tries)).toEqual([[attempt]]);
      expect((await hooks.stateOf(webhook.id)).failing).toBe(1);
      await turn([{ message, attempt: { ...attempt, ms: 4 }, answer: 'away', retryAfterSeconds: null }]);
      expect((await hooks.stateOf(webhook.id)).failing).toBe(2);
    });
  });

  it('that stop finish what they have begun, and leave the rest to others at once', async () => {
    await hooks.createWebhook({ order: 'strict' });
    hooks.receiver.answer((response) => setTimeout(() => response.end(), 30));
    const first = hooks.startWorker();
    await hooks.createStories(10);
    await hooks.waitForArrivals(3);
    await first.stop();
    hooks.startWorker();
    await hooks.waitForArrivals(10);
    expect(hooks.seqs()).toEqual(numbersUpTo(10));
  });
});

describe('the secret', () => {
  it('that is rotated signs beside the new one until its time, and then no more', async () => {
    const { webhook, secret: old } = await hooks.createWebhook();
    const { secret } = await hooks.people.ana.webhooks.rotateSecret({
      webhookId: webhook.id,
      overlapSeconds: 3_600,
    });
    hooks.startWorker();
    await hooks.createStories(1);
    await hooks.waitForArrivals(1);
    const [both] = hooks.receiver.received as [Received];
    expect(String(both.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect([verify(old, both), verify(secret, both)]).toEqual([both.body, both.body]);
    await hooks.world.rows('update webhooks set previous_until = now() where id = $1', webhook.id);
    await hooks.createStories(1, 'WEB', 2);
    await hooks.waitForArrivals(2);
    const one = hooks.receiver.received[1] as Received;
    expect(verify(secret, one)).toEqual(one.body);
    expect(() => verify(old, one)).toThrow('No matching signature');
  });
});

describe('paused, replayed, tested', () => {
  it('nothing is sent while it is paused, but tests; and nothing is lost', async () => {
    const { webhook } = await hooks.createWebhook();
    hooks.startWorker();
    await hooks.createStories(1);
    await hooks.waitForArrivals(1);
    await hooks.people.ana.webhooks.pause({ webhookId: webhook.id });
    await hooks.createStories(2, 'WEB', 2);
    const { delivery } = await hooks.people.ana.webhooks.test({ webhookId: webhook.id });
    await hooks.waitForArrivals(2);
    expect(hooks.receiver.received[1]).toMatchObject({ type: 'webhook.test', id: delivery.eventId });
    await waitUntil(async () => {
      const now = await hooks.people.ana.webhooks.deliveries.get({ deliveryId: delivery.id });
      return now.delivery.state === 'delivered' && now.delivery.tries[0]?.status === 200;
    });
    expect(hooks.receiver.received).toHaveLength(2);
    await hooks.people.ana.webhooks.resume({ webhookId: webhook.id });
    await hooks.waitForArrivals(4);
    expect(hooks.seqs().slice(2).sort()).toEqual([2, 3]);
  });

  it('waits as long as an overloaded receiver asks for, and no longer than a day', async () => {
    const { webhook } = await hooks.createWebhook();
    hooks.receiver.answer((response) => {
      response.writeHead(429, { 'retry-after': '1800' }).end();
    });
    hooks.startWorker();
    await hooks.createStories(1);
    const look = async () =>
      (await hooks.people.ana.webhooks.deliveries.list({ webhookId: webhook.id })).items[0];
    await waitUntil(async () => (await look())?.tries.length === 1);
    const { tries, nextTryAt } = (await look()) ?? {};
    const waitMs = Date.parse(nextTryAt ?? '') - Date.parse(tries?.[0]?.at ?? '');
    expect(waitMs).toBeGreaterThanOrEqual(1_800_000);
  });

  it('a test that fails is not tried again, and says what came back', async () => {
    const { webhook } = await hooks.createWebhook();
    hooks.receiver.answer(503);
    hooks.startWorker();
    const { delivery } = await hooks.people.ana.webhooks.test({ webhookId: webhook.id });
    const look = async () =>
      (await hooks.people.ana.webhooks.deliveries.get({ deliveryId: delivery.id })).delivery;
    await waitUntil(async () => (await look()).state === 'failed');
    expect(await look()).toMatchObject({ answer: 'said so', tries: [{ status: 503 }], nextTryAt: null });
    expect((await hooks.stateOf(webhook.id)).state).toBe('active');
  });

  it('a replay sends a range again, by numbers or by time, with the same ids and numbers', async () => {
    const { webhook } = await hooks.createWebhook({ order: 'strict' });
    hooks.startWorker();
    await hooks.createStories(5);
    await hooks.waitForArrivals(5);
    await hooks.delivered(webhook.id, 5);
    expect(await hooks.people.ana.webhooks.replay({ webhookId: webhook.id, from: 2, to: 4 })).toEqual({
      count: 3,
    });
    await hooks.waitForArrivals(8);
    expect(hooks.seqs()).toEqual([1, 2, 3, 4, 5, 2, 3, 4]);
    expect(hooks.receiver.received.slice(5).map(({ id }) => id)).toEqual(
      hooks.receiver.received.slice(1, 4).map(({ id }) => id),
    );
    await hooks.delivered(webhook.id, 5);
    const [from, to] = [hooks.receiver.received[3], hooks.receiver.received[4]].map((one) =>
      String(one?.body.timestamp),
    );
    expect(
      await hooks.people.ana.webhooks.replay({ webhookId: webhook.id, from: from ?? '', to: to ?? '' }),
    ).toEqual({ count: 2 });
    await hooks.waitForArrivals(10);
    expect(hooks.seqs().slice(8)).toEqual([4, 5]);
    await hooks.delivered(webhook.id, 5);
    const { items } = await hooks.people.ana.webhooks.deliveries.list({ webhookId: webhook.id });
    const last = items.find(({ seq }) => seq === 1);
    await hooks.people.ana.webhooks.deliveries.redeliver({ deliveryId: String(last?.id) });
    await hooks.waitForArrivals(11);
    expect(hooks.seqs().at(-1)).toBe(1);
  });
});

describe('what a worker has fetched ahead', () => {
  it.each(['strict', 'parallel'] as const)(
    'waits where the webhook is paused meanwhile (%s), and comes when it is resumed',
    async (order) => {
      const { webhook } = await hooks.createWebhook({ order });
      await hooks.createStories(60);
      hooks.receiver.answer((response) => setTimeout(() => response.end(), order === 'strict' ? 60 : 480));
      hooks.startWorker();
      await hooks.waitForArrivals(1);
      await hooks.people.ana.webhooks.pause({ webhookId: webhook.id });
      await pause(3_000);
      expect(hooks.receiver.received.length).toBeLessThan(30);
      await hooks.people.ana.webhooks.resume({ webhookId: webhook.id });
      hooks.receiver.answer(200);
      await hooks.waitForArrivals(60);
      expect(hooks.seqs().toSorted((a, b) => a - b)).toEqual(numbersUpTo(60));
    },
    30_000,
  );

  it('is looked at again: what its maker may see no more goes out as its number alone', async () => {
    const { ana, chloe } = hooks.people;
    await ana.projects.create({ key: 'HID', name: 'Hidden', visibility: 'private' });
    await ana.projects.members.add({ projectId: 'HID', memberId: chloe.me.memberId, role: 'lead' });
    await hooks.createWebhook({ projectId: 'HID', order: 'strict' }, chloe);
    await hooks.createStories(20, 'HID');
    hooks.receiver.answer((response) => setTimeout(() => response.end(), 400));
    hooks.startWorker();
    await hooks.waitForArrivals(1);
    await ana.projects.members.remove({ projectId: 'HID', memberId: chloe.me.memberId });
    await hooks.waitForArrivals(20);
    expect(hooks.seqs()).toEqual(numbersUpTo(20));
    const kinds = hooks.receiver.received.map(({ type }) => type);
    expect(new Set(kinds.slice(-8))).toEqual(new Set(['webhook.withheld']));
  }, 30_000);
});
