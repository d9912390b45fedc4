/** Messages to channels of chat services, from a real worker to a local server. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { createSecretCipher, parseNetworks } from '@muster/outbound';
import { type Mail, type Mailer } from '@muster/outbound/mail';
import { createSender, type Sender } from '@muster/outbound/sender';
import { deliverNotification, mailChat, mailNotification, pushNotification } from '../src/deliver.ts';
import { openLine, waitUntil } from './line.ts';
import { useWebhooks } from './webhook-world.ts';

const hooks = useWebhooks();
const { world } = hooks;

interface ReceivedChat {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: { readonly text?: string; readonly blocks?: unknown; readonly attachments?: unknown };
}
let server: Server;
let origin = '';
let status = 200;
let received: ReceivedChat[] = [];
let [underWay, most] = [0, 0];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    underWay += 1;
    most = Math.max(most, underWay);
    response.on('close', () => (underWay -= 1));
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedChat['body'];
      received.push({ path: request.url ?? '', headers: request.headers, body });
      response.statusCode = status;
      setTimeout(() => response.end('ok'), 10);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
beforeEach(() => {
  received = [];
  most = 0;
  status = 200;
});

describe('a webhook of a chat service', () => {
  it('sends short unsigned messages to the sealed address, one at a time, and of comments only questions', async () => {
    const { ana } = hooks.people;
    const { webhook } = await hooks.createWebhook({
      ...{ format: 'slack', url: `${origin}/services/T0/B0/secret`, projectId: 'WEB' },
      kinds: ['story.created', 'comment.created', 'reviewer.added', 'assignment.changed'],
    });
    expect(webhook.url).not.toContain('secret');
    hooks.startWorker();
    await hooks.createStories(4);
    await ana.comments.create({ storyId: 'WEB-1', body: 'Only a remark' });
    await ana.comments.create({ storyId: 'WEB-1', body: 'Which one?', kind: 'question' });
    await ana.reviewers.add({ storyId: 'WEB-1', memberId: hooks.people.ben.me.memberId });
    await waitUntil(async () => received.length >= 6);
    await hooks.delivered(webhook.id, 6);
    expect(received.map(({ body }) => body.text).sort()).toEqual([
      'Ana created WEB-1',
      'Ana created WEB-2',
      'Ana created WEB-3',
      'Ana created WEB-4',
      'Ana has a question on WEB-1',
      'Ana requested a review of WEB-1',
    ]);
    expect(most).toBe(1);
    const [first] = received;
    expect(first?.path).toBe('/services/T0/B0/secret');
    expect(Object.keys(first?.headers ?? {}).filter((name) => name.startsWith('webhook-'))).toEqual([]);
    expect(JSON.stringify(received)).toContain('<https://app.example/story/WEB-1|Ana created WEB-1>');
    expect(JSON.stringify(received)).not.toContain('Only a remark');
  });

  it('sends tests and cards to Teams, and shows the body in the delivery', async () => {
    const { ana } = hooks.people;
    const { webhook } = await hooks.createWebhook({
      ...{ format: 'teams', url: `${origin}/workflows/secret`, kinds: ['group.*'] },
    });
    await ana.webhooks.test({ webhookId: webhook.id });
    hooks.startWorker();
    await hooks.delivered(webhook.id, 1);
    expect(received[0]?.body).toMatchObject({
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive' }],
    });
    const { items } = await ana.webhooks.deliveries.list({ webhookId: webhook.id });
    const { delivery } = await ana.webhooks.deliveries.get({ deliveryId: items[0]?.id ?? '' });
    expect(delivery.request.url).not.toContain('secret');
    expect(JSON.parse(delivery.request.body)).toEqual(received[0]?.body);
  });
});

describe("a member's own channel", () => {
  const seals = createSecretCipher(['a key of this installation, for specs']);
  const mails: Mail[] = [];
  const mailer: Mailer = { send: async (mail) => void mails.push(mail), close: () => undefined };
  /** Sends to the local server what is addressed to Slack, by the sender of the worker. */
  const throughLocalServer = (sender: Sender): Sender => ({
    ...sender,
    post: (request) =>
      sender.post({ ...request, url: request.url.replace('https://hooks.slack.com', origin) }),
  });
  const ways = (chatSender: Sender, withSeals = seals) => ({
    ...{ pusher: undefined, mailer, chatSender, seals: withSeals, baseUrl: 'https://muster.example/' },
    messageRate: { burst: 5, seconds: 120 },
  });

  /** Connects a channel of Chloe, notifies her, and runs the jobs until all are done. */
  async function notify(channels: ReturnType<typeof ways>, pushes = 1) {
    const line = openLine(world);
    const { orgId, chloe } = hooks.people;
    line.hire({
      'chat.mail': mailChat(channels),
      'notification.deliver': deliverNotification(channels),
      'notification.mail': mailNotification(channels),
      'notification.push': pushNotification(channels),
    });
    const notificationId = newId();
    await world.rows(
      `insert into notifications (org_id, id, member_id, kind, title, body, subject, actor, created_at)
       values ($1, $2, $3, 'mention', 'Ana mentioned you on WEB-1', 'Passkeys', $4, '{"name": "Ana"}', now())`,
      ...[orgId, notificationId, chloe.me.memberId],
      JSON.stringify({ type: 'story', id: newId(), key: 'WEB-1', title: 'Passkeys' }),
    );
    await line.ask(orgId, 'notification.deliver', { notificationId });
    await waitUntil(async () => {
      await line.relay();
      // The events of the project and its members have no worker here.
      const rows = (await line.rows(orgId)).filter(({ topic }) => /^(chat|notification)/.test(topic));
      return (
        rows.filter(({ topic }) => topic === 'notification.push').length >= pushes &&
        rows.every(({ done }) => done)
      );
    });
    await line.close();
  }
  const connect = () =>
    hooks.people.chloe.devices.connectChat({
      ...{ service: 'slack', name: '#chloe', url: 'https://hooks.slack.com/services/T0/B0/secret' },
    });
  const isConnected = async () =>
    (await hooks.people.chloe.devices.list({})).items.map((one) => one.takesPush);

  it('gets the notifications with a link, without web push being configured', async () => {
    await connect();
    mails.length = 0;
    const sender = createSender({ networks: parseNetworks('127.0.0.0/8:*') });
    await notify(ways(throughLocalServer(sender)));
    expect(received).toMatchObject([
      { path: '/services/T0/B0/secret', body: { text: 'Ana mentioned you on WEB-1' } },
    ]);
    expect(JSON.stringify(received)).toContain(
      '<https://muster.example/console/s/WEB-1|Ana mentioned you on WEB-1>',
    );
    // The line also sends the mails of the specs before.
    const own = mails.filter(({ to }) => to === 'chloe@example.com');
    expect(own.map(({ subject }) => subject).sort()).toEqual([
      'Your notifications are now sent to Slack: #chloe',
      '[Acme] Ana mentioned you on WEB-1',
    ]);
    const payloads = await world.rows('select payload from outbox where org_id = $1', hooks.people.orgId);
    expect(JSON.stringify(payloads)).not.toContain('secret');

    status = 404;
    await notify(ways(throughLocalServer(sender)), 2);
    expect(await isConnected()).toEqual([false]);
    sender.close();
  });

  it('is not written to at a private address to which its host resolves', async () => {
    await connect();
    // The sender of the worker, except that the service's name resolves to a private address, as after DNS rebinding.
    const sender = createSender({
      networks: [],
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    await expect(
      sender.post({ url: 'https://hooks.slack.com/services/x', headers: {}, body: '' }),
    ).rejects.toThrow('not sent');
    sender.close();
  });

  it('stays if no key decrypts its address, since an operator can restore the key', async () => {
    await connect();
    const sender = createSender({ networks: [] });
    await notify(ways(sender, createSecretCipher(['another key of this installation, for specs'])));
    expect(received).toEqual([]);
    expect(await isConnected()).toEqual([true]);
    sender.close();
  });
});
