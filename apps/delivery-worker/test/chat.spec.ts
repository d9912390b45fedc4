/** Messages to channels of chat services, from a real worker to a local server. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool, newId } from '@muster/driver';
import { type PayloadOf } from '@muster/jobs';
import { createSecretCipher, parseNetworks } from '@muster/outbound';
import { type Mail, type Mailer } from '@muster/outbound/mail';
import { createSender, type Sender } from '@muster/outbound/sender';
import { createSlackTokens, slackResponseSecretOwner, type SlackTokens } from '@muster/outbound/slack';
import {
  deliverNotification,
  type DeliveryChannels,
  mailChat,
  mailNotification,
  pushNotification,
} from '../src/deliver.ts';
import { respondInSlack } from '../src/respond-in-slack.ts';
import { getOrganizationKey, inOrganizationAsSystem } from '@muster/tenancy';
import { openOutboxHarness, waitUntil } from './line.ts';
import { useWebhooks } from './webhook-world.ts';

const hooks = useWebhooks();
const { world } = hooks;

interface ReceivedChat {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: { readonly text?: string; readonly blocks?: unknown; readonly attachments?: unknown };
}
interface SlackButton {
  readonly text: { readonly text: string };
  readonly action_id: string;
  readonly value?: string;
  readonly url?: string;
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
  async function notify(
    channels: ReturnType<typeof ways> & Pick<DeliveryChannels, 'slackTokens'>,
    pushes = 1,
    givenId?: string,
  ) {
    const line = openOutboxHarness(world);
    const { orgId, chloe } = hooks.people;
    line.startWorkers({
      'chat.mail': mailChat(channels),
      'notification.deliver': deliverNotification(channels),
      'notification.mail': mailNotification(channels),
      'notification.push': pushNotification(channels),
    });
    const notificationId = givenId ?? newId();
    const isGiven = givenId !== undefined;
    if (!isGiven)
      await world.rows(
        `insert into notifications (org_id, id, member_id, kind, title, body, subject, actor, created_at)
       values ($1, $2, $3, 'mention', 'Ana mentioned you on WEB-1', 'Passkeys', $4, '{"name": "Ana"}', now())`,
        ...[orgId, notificationId, chloe.me.memberId],
        JSON.stringify({ type: 'story', id: newId(), key: 'WEB-1', title: 'Passkeys' }),
      );
    await line.ask(orgId, 'notification.deliver', { notificationId });
    await waitUntil(async () => {
      await line.runRelayTurn();
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

  it('gets a question with buttons that Muster signed, if a Slack app is configured', async () => {
    const { orgId, ana, chloe } = hooks.people;
    await connect();
    await hooks.createStories(1);
    const { comment } = await ana.comments.create({
      ...{ storyId: 'WEB-1', kind: 'question', body: 'Which <one>?', options: ['A & B', 'C'] },
      directedTo: chloe.me.memberId,
    });
    const [row] = await world.rows<{ id: string }>(
      'select id from notifications where org_id = $1 and member_id = $2 and comment_id = $3',
      ...[orgId, chloe.me.memberId, comment.id],
    );
    const tokens = createSlackTokens(['a key of this installation, for specs']);
    const sender = createSender({ networks: parseNetworks('127.0.0.0/8:*') });
    const send = async (slackTokens: SlackTokens | undefined): Promise<ReceivedChat['body'] | undefined> => {
      received = [];
      await notify({ ...ways(throughLocalServer(sender)), slackTokens }, 1, row?.id);
      return received[0]?.body;
    };
    const body = await send(tokens);
    const blocks = body?.blocks as { text?: { text: string }; elements?: SlackButton[] }[];
    expect(blocks.map(({ text }) => text?.text)).toEqual([
      '<https://muster.example/console/s/WEB-1|Ana has a question for you on WEB-1>',
      'Which &lt;one&gt;?',
      undefined,
    ]);
    const buttons = blocks[2]?.elements ?? [];
    expect(buttons.map(({ text }) => text.text)).toEqual(['A & B', 'C', 'Answer in Muster']);
    expect(buttons.map(({ action_id: id }) => id)).toEqual([
      'muster-answer-0',
      'muster-answer-1',
      'muster-open',
    ]);
    expect(buttons[2]?.url).toBe('https://muster.example/console/s/WEB-1');
    const parsed = tokens.parseValue(buttons[1]?.value ?? '');
    expect(parsed).toMatchObject({ orgId, questionId: comment.id, option: 1 });
    const [key] = await world.rows<{ key: Buffer }>(
      'select cursor_key as key from streams where org_id = $1',
      orgId,
    );
    expect(parsed && tokens.isSigned(key?.key ?? Buffer.alloc(0), parsed)).toBe(true);

    const withoutApp = JSON.stringify(await send(undefined));
    expect(withoutApp).not.toContain('muster-answer');
    expect(withoutApp).not.toContain('Which');
    await ana.comments.resolve({ commentId: comment.id });
    expect(JSON.stringify(await send(tokens))).not.toContain('muster-answer');
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

describe('the response to a click in Slack', () => {
  const seals = createSecretCipher(['a key of this installation, for specs']);
  const tokens = createSlackTokens(['a key of this installation, for specs']);

  /** Runs the job, whose requests to Slack reach the local server. Returns its error. */
  async function respond(
    response: PayloadOf<'slack.respond'>['response'],
    url = 'https://hooks.slack.com/actions/T0/1/x',
  ): Promise<unknown> {
    const { orgId } = hooks.people;
    const sender = createSender({ networks: parseNetworks('127.0.0.0/8:*') });
    const chatSender: Sender = {
      ...sender,
      post: (request) =>
        sender.post({ ...request, url: request.url.replace('https://hooks.slack.com', origin) }),
    };
    const worker = respondInSlack({
      ...{ chatSender, seals, slackTokens: tokens, baseUrl: 'https://muster.example/' },
    });
    const pool = createPool({ url: world.database.url, role: 'muster_app', name: 'slack', max: 1 });
    try {
      const send = await inOrganizationAsSystem(pool, orgId, async (db) => {
        const key = await getOrganizationKey(db);
        const responseUrl = seals.encrypt(slackResponseSecretOwner(key), url).toString('base64');
        return worker({ db, orgId, rowId: newId(), payload: { responseUrl, response } });
      });
      return await send?.(new AbortController().signal).catch((error: unknown) => error);
    } finally {
      sender.close();
      await pool.end();
    }
  }
  const firstBody = () => received[0]?.body as Record<string, unknown> | undefined;

  it('shows an account that is not connected a link that only it sees, valid for ten minutes', async () => {
    await respond({ kind: 'connect', teamId: 'T0', userId: 'U0', userName: 'chloe' });
    expect(received.map(({ path }) => path)).toEqual(['/actions/T0/1/x']);
    expect(firstBody()).toMatchObject({ response_type: 'ephemeral', replace_original: false });
    const [, token = ''] =
      /https:\/\/muster\.example\/console\/settings\/notifications#slack=([\w.-]+)\|/.exec(
        JSON.stringify(firstBody()),
      ) ?? [];
    const [row] = await world.rows<{ key: Buffer }>(
      'select cursor_key as key from streams where org_id = $1',
      hooks.people.orgId,
    );
    const link = tokens.openLinkToken(row?.key ?? Buffer.alloc(0), token);
    expect(link).toMatchObject({ teamId: 'T0', userId: 'U0', userName: 'chloe' });
    const minutes = ((link?.expiresAt ?? 0) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(9);
    expect(minutes).toBeLessThanOrEqual(10);
  });

  it('replaces the buttons by the answer, and does nothing if the question was reopened', async () => {
    const { ana, ben } = hooks.people;
    await hooks.createStories(1);
    const { comment } = await ana.comments.create({
      ...{ storyId: 'WEB-1', kind: 'question', body: 'Which?', options: ['A'] },
    });
    const answered = { kind: 'answered', questionId: comment.id } as const;
    await respond(answered);
    expect(received).toEqual([]);
    await ben.comments.create({ storyId: 'WEB-1', parentId: comment.id, body: 'A <b>' });
    await ben.comments.resolve({ commentId: comment.id });
    // Later words of others are not the answer.
    await ana.comments.create({ storyId: 'WEB-1', parentId: comment.id, body: 'Or B?' });
    await respond(answered);
    expect(firstBody()).toMatchObject({ replace_original: true, text: 'Ana had a question on WEB-1' });
    expect(JSON.stringify(firstBody())).toContain('Which?\\n\\n✅ Ben: A &lt;b&gt;');
    expect(JSON.stringify(firstBody())).not.toContain('muster-answer');
  });

  it('says why an answer was refused', async () => {
    await respond({ kind: 'refused', message: 'The project is archived.' });
    expect(firstBody()).toMatchObject({ response_type: 'ephemeral', text: 'Your answer was not saved.' });
    expect(JSON.stringify(firstBody())).toContain('The project is archived.');
  });

  it('is tried again after a failure of Slack, and not if the address has expired', async () => {
    status = 503;
    expect(await respond({ kind: 'refused', message: 'x' })).toMatchObject({ message: 'Slack answered 503' });
    status = 404;
    expect(await respond({ kind: 'refused', message: 'x' })).toBeUndefined();
  });

  it('is sent to addresses of Slack only', async () => {
    await respond({ kind: 'refused', message: 'x' }, `${origin}/actions/T0`);
    expect(received).toEqual([]);
  });
});
