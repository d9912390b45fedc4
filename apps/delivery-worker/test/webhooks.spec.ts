/** Webhooks from a receiver's point of view, with real events, workers and a real receiver. */
import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { type Received, verify } from './receiver.ts';
import { numbersUpTo, useWebhooks } from './webhook-world.ts';

const hooks = useWebhooks();

describe('a message', () => {
  it('is signed as Standard Webhooks says, and says what events.list says', async () => {
    const { secret } = await hooks.createWebhook();
    hooks.startWorker();
    await hooks.createStories(1);
    await hooks.waitForArrivals(1);
    const [one] = hooks.receiver.received as [Received];
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(verify(secret, one)).toEqual(one.body);
    const { items } = await hooks.people.ana.events.list({ kinds: ['story.created'] });
    const [event] = items;
    expect(one.id).toBe(event?.id);
    expect(one.body).toEqual({
      type: 'story.created',
      timestamp: event?.at,
      data: {
        seq: 1,
        cursor: expect.any(String),
        actor: event?.actor,
        projectId: event?.projectId,
        subject: event?.subject,
        data: event?.data,
        url: 'https://app.example/story/WEB-1',
      },
    });
    expect(() => verify('whsec_' + Buffer.alloc(32, 1).toString('base64'), one)).toThrow();
  });

  it('has a cursor from which events.list goes on', async () => {
    await hooks.createWebhook();
    hooks.startWorker();
    await hooks.createStories(2);
    await hooks.waitForArrivals(2);
    const first = hooks.receiver.received.find(({ seq }) => seq === 1);
    const after = String(first?.body.data['cursor']);
    const { items } = await hooks.people.ana.events.list({ after, kinds: ['story.created'] });
    expect(items.map(({ subject }) => subject.key)).toEqual(['WEB-2']);
  });

  it('comes for each event of its kinds, once, numbered without gaps, at most eight at once', async () => {
    await hooks.createWebhook();
    hooks.receiver.answer((response) => setTimeout(() => response.end(), 20));
    hooks.startWorker();
    await hooks.createStories(40);
    await hooks.waitForArrivals(40);
    expect(hooks.seqs().sort((a, b) => a - b)).toEqual(numbersUpTo(40));
    expect(hooks.receiver.most()).toBeLessThanOrEqual(8);
    expect(hooks.receiver.received.every(({ type }) => type === 'story.created')).toBe(true);
  });

  it('is of the project alone where the webhook is of one', async () => {
    await hooks.people.ana.projects.create({ key: 'API', name: 'Api', visibility: 'org' });
    await hooks.createWebhook({ projectId: 'API' });
    hooks.startWorker();
    await hooks.createStories(2);
    await hooks.createStories(1, 'API');
    await hooks.waitForArrivals(1);
    expect(hooks.receiver.received[0]?.body.data).toMatchObject({ seq: 1, subject: { key: 'API-1' } });
    expect(hooks.receiver.received).toHaveLength(1);
  });
});

describe('in strict order', () => {
  it('none overtakes another, also where one has to be tried again', async () => {
    const { webhook } = await hooks.createWebhook({ order: 'strict' });
    let failures = 2;
    hooks.receiver.answer((response, { seq }) => {
      if (seq === 3 && failures-- > 0) response.statusCode = 500;
      response.end();
    });
    hooks.startWorker();
    await hooks.createStories(6);
    await hooks.waitForAttempts(webhook.id, 1);
    await waitUntil(async () => hooks.seqs().includes(3) && (await hooks.stateOf(webhook.id)).failing === 1);
    expect(hooks.seqs()).toEqual([1, 2, 3]);
    await hooks.makeDue(webhook.id);
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).failing === 2);
    await hooks.makeDue(webhook.id);
    await hooks.waitForArrivals(8);
    expect(hooks.seqs()).toEqual([1, 2, 3, 3, 3, 4, 5, 6]);
    expect(hooks.receiver.most()).toBe(1);
  });
});

describe('a try that fails', () => {
  it.each([500, 302, 404])('(%d) is made again with the same id, while others go on', async (status) => {
    const { webhook } = await hooks.createWebhook();
    hooks.receiver.answer((response, { seq }) => {
      response.statusCode = seq === 1 && hooks.receiver.received.length === 1 ? status : 200;
      if (status === 302) response.setHeader('location', hooks.receiver.url);
      response.end();
    });
    hooks.startWorker();
    await hooks.createStories(1);
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).failing === 1);
    await hooks.createStories(2, 'WEB', 2);
    await hooks.delivered(webhook.id, 2);
    const { items } = await hooks.people.ana.webhooks.deliveries.list({
      webhookId: webhook.id,
      state: 'pending',
    });
    expect(items).toMatchObject([{ seq: 1, tries: [{ status, error: `answered ${status}` }] }]);
    const wait = Date.parse(String(items[0]?.nextTryAt)) - Date.parse(String(items[0]?.tries[0]?.at));
    expect(wait).toBeGreaterThan(4_000);
    expect(wait).toBeLessThan(8_000);
    await hooks.makeDue(webhook.id);
    await hooks.waitForArrivals(4);
    expect(hooks.seqs().at(-1)).toBe(1);
    expect(hooks.receiver.received.at(-1)?.id).toBe(hooks.receiver.received[0]?.id);
  });

  it('ten times pauses the webhook and tells maker and admins; resuming sends all that was missed', async () => {
    const { webhook } = await hooks.createWebhook();
    hooks.receiver.answer(500);
    hooks.startWorker();
    await hooks.createStories(1);
    for (let nth = 1; nth <= 10; nth += 1) {
      await hooks.waitForAttempts(webhook.id, nth);
      await hooks.makeDue(webhook.id);
    }
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).state === 'paused');
    expect(await hooks.stateOf(webhook.id)).toMatchObject({ pausedReason: 'failing', failing: 10 });
    expect(hooks.receiver.received).toHaveLength(10);
    const told = await hooks.people.ben.notifications.list({ kinds: ['webhook_paused'] });
    expect(told.items.map(({ title }) => title)).toEqual([
      expect.stringMatching(/^The webhook to 127\.0\.0\.1:\d+ was paused$/),
    ]);
    await hooks.createStories(3, 'WEB', 2);
    hooks.receiver.answer(200);
    await hooks.people.ben.webhooks.resume({ webhookId: webhook.id });
    await hooks.waitForArrivals(14);
    expect(hooks.seqs().slice(10).sort()).toEqual([1, 2, 3, 4]);
  });

  it('with 410 pauses it at once', async () => {
    const { webhook } = await hooks.createWebhook();
    hooks.receiver.answer(410);
    hooks.startWorker();
    await hooks.createStories(1);
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).state === 'paused');
    expect(await hooks.stateOf(webhook.id)).toMatchObject({ pausedReason: 'gone', failing: 1 });
  });

  it('for want of the secret pauses it; a test then says why, and a new secret mends it', async () => {
    const { ana } = hooks.people;
    const { webhook } = await hooks.createWebhook();
    await hooks.world.rows(`update webhooks set secret = 'of another key' where id = $1`, webhook.id);
    hooks.startWorker();
    await hooks.createStories(1);
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).pausedReason === 'secret_unreadable');
    const { delivery } = await ana.webhooks.test({ webhookId: webhook.id });
    const look = async () => (await ana.webhooks.deliveries.get({ deliveryId: delivery.id })).delivery;
    await waitUntil(async () => (await look()).state === 'failed');
    expect((await look()).tries).toMatchObject([
      { status: null, error: "not sent: the webhook's secret cannot be decrypted" },
    ]);
    expect(hooks.receiver.received).toEqual([]);
    await ana.webhooks.rotateSecret({ webhookId: webhook.id });
    await ana.webhooks.resume({ webhookId: webhook.id });
    await hooks.waitForArrivals(1);
    expect(hooks.seqs()).toEqual([1]);
  });

  it('keeps what came back: the first 2 KiB', async () => {
    const { webhook } = await hooks.createWebhook();
    hooks.receiver.answer((response) => {
      response.statusCode = 500;
      response.end('x'.repeat(100_000));
    });
    hooks.startWorker();
    await hooks.createStories(1);
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).failing === 1);
    const { items } = await hooks.people.ana.webhooks.deliveries.list({ webhookId: webhook.id });
    const { delivery } = await hooks.people.ana.webhooks.deliveries.get({ deliveryId: String(items[0]?.id) });
    expect(delivery.answer).toBe('x'.repeat(2_048));
    expect(delivery.request.url).toBe(hooks.receiver.url);
    const sent = JSON.parse(delivery.request.body) as Received['body'];
    const got = hooks.receiver.received[0]?.body;
    expect({ ...sent, data: { ...sent.data, cursor: '' } }).toEqual({
      ...got,
      data: { ...got?.data, cursor: '' },
    });
  });
});

describe('rights at the time of sending', () => {
  it('what its maker may not see takes no number', async () => {
    const { orgId, ana, chloe } = hooks.people;
    await ana.projects.create({ key: 'HID', name: 'Hidden', visibility: 'private' });
    await hooks.world.rows(`update members set role = 'admin' where id = $1`, chloe.me.memberId);
    await hooks.createWebhook({}, chloe);
    await hooks.world.rows(`update members set role = 'member' where id = $1`, chloe.me.memberId);
    hooks.startWorker();
    await hooks.createStories(2, 'HID');
    await hooks.createStories(1);
    await hooks.createStories(2, 'HID', 3);
    await hooks.createStories(1, 'WEB', 2);
    await hooks.waitForArrivals(2);
    expect(
      hooks.receiver.received
        .map(({ body }) => [body.data['seq'], (body.data['subject'] as { key: string }).key])
        .sort(),
    ).toEqual([
      [1, 'WEB-1'],
      [2, 'WEB-2'],
    ]);
    expect(orgId).toBe(hooks.people.orgId);
  });

  it('sends events of a budget only to makers who may list the budget', async () => {
    const { ana, chloe } = hooks.people;
    await ana.projects.members.add({ projectId: 'WEB', memberId: chloe.me.memberId, role: 'lead' });
    const kinds = ['budget.changed', 'story.created'] as const;
    await hooks.createWebhook({ projectId: 'WEB', kinds: [...kinds] }, chloe);
    hooks.startWorker();
    const budget = { amountMicros: 1_000, period: 'day', action: 'notify' } as const;
    await ana.budgets.set({ scope: 'org', ...budget });
    await ana.budgets.set({ scope: 'project', targetId: 'WEB', ...budget });
    await hooks.waitForArrivals(1);
    await ana.projects.members.remove({ projectId: 'WEB', memberId: chloe.me.memberId });
    await ana.budgets.set({ scope: 'project', targetId: 'WEB', ...budget });
    await hooks.createStories(1);
    await hooks.waitForArrivals(2);
    expect(hooks.receiver.received.map(({ body }) => [body.type, body.data['seq']])).toEqual([
      ['budget.changed', 1],
      ['story.created', 2],
    ]);
  });

  it('what its maker may see no more at the second try goes out as its number alone', async () => {
    const { ana, chloe } = hooks.people;
    const { project } = await ana.projects.create({ key: 'HID', name: 'Hidden', visibility: 'private' });
    await ana.projects.members.add({ projectId: 'HID', memberId: chloe.me.memberId, role: 'lead' });
    const { webhook } = await hooks.createWebhook({ projectId: 'HID' }, chloe);
    hooks.receiver.answer(500);
    hooks.startWorker();
    await hooks.createStories(1, 'HID');
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).failing === 1);
    await ana.projects.members.remove({ projectId: 'HID', memberId: chloe.me.memberId });
    hooks.receiver.answer(200);
    await hooks.makeDue(webhook.id);
    await hooks.waitForArrivals(2);
    expect(hooks.receiver.received[1]?.body).toEqual({
      type: 'webhook.withheld',
      timestamp: hooks.receiver.received[0]?.body.timestamp,
      data: { seq: 1, cursor: expect.any(String) },
    });
    expect(hooks.receiver.received[1]?.text).not.toContain(project.id);
  });

  it('ends with the maker, who left: it is paused, and whoever resumes it is its maker', async () => {
    const { ana, ben } = hooks.people;
    const { webhook } = await hooks.createWebhook({}, ben);
    hooks.startWorker();
    await ana.members.removeMember({ memberId: ben.me.memberId });
    await waitUntil(async () => (await hooks.stateOf(webhook.id)).pausedReason === 'maker_left');
    await hooks.createStories(1);
    expect((await ana.notifications.list({ kinds: ['webhook_paused'] })).items).toHaveLength(1);
    const resumed = await ana.webhooks.resume({ webhookId: webhook.id });
    expect(resumed.webhook.madeBy.memberId).toBe(ana.me.memberId);
    await hooks.waitForArrivals(1);
    expect(hooks.seqs()).toEqual([1]);
  });
});
