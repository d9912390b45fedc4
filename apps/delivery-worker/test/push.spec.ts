/** Web push with a local push service. */
import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, type Server } from 'node:https';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import getTlsOptions from 'smtp-server/lib/tls-options.js';
import webPush from 'web-push';
import { deliverNotification, mailNotification, pushNotification } from '../src/deliver.ts';
import { createSecretCipher } from '@muster/outbound';
import { createSender } from '@muster/outbound/sender';
import { type Mail, type Mailer } from '@muster/outbound/mail';
import { createPusher, isPushHost, type Pusher } from '../src/push.ts';
import { openOutboxHarness, waitUntil } from './line.ts';

const world = useWorld({});
const vapid = { ...webPush.generateVAPIDKeys(), subject: 'mailto:ops@acme.example' };
let server: Server;
let pusher: Pusher;
let endpoint = '';
let status = 201;
let requests: { path: string | undefined; headers: Record<string, unknown>; bytes: number }[] = [];

beforeAll(async () => {
  // A test certificate from the mail server's package.
  server = createServer(getTlsOptions(), (request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      requests.push({ path: request.url, headers: request.headers, bytes });
      response.statusCode = status;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = new Agent({ rejectUnauthorized: false });
  pusher = createPusher({ vapid, hosts: ['127.0.0.1', new URL(endpoint).host], agent });
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  requests = [];
  status = 201;
});

const newSubscriptionPath = (): string => {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  return keys.getPublicKey('base64url');
};

/** Creates a subscription as a browser does. */
function subscribe(name: string, at = endpoint, point = newSubscriptionPath()): string {
  return JSON.stringify({
    endpoint: `${at}/${name}`,
    keys: { p256dh: point, auth: randomBytes(16).toString('base64url') },
  });
}

describe('a push', () => {
  it('goes out sealed, signed with the keys of the installation', async () => {
    expect(await pusher.send({ subscription: subscribe('ana'), payload: { title: 'Hello' } })).toBe('sent');
    expect(requests).toMatchObject([
      {
        path: '/ana',
        headers: { 'content-encoding': 'aes128gcm', authorization: expect.stringMatching(/^vapid t=/) },
      },
    ]);
  });

  it.each([404, 410])('to a browser that went away (%d) says so', async (gone) => {
    status = gone;
    expect(await pusher.send({ subscription: subscribe('ana'), payload: {} })).toBe('gone');
  });

  it('that the service does not take now is tried again', async () => {
    status = 503;
    await expect(pusher.send({ subscription: subscribe('ana'), payload: {} })).rejects.toThrow();
  });

  it.each([429, 408])('that comes too early (%d) is tried again', async (early) => {
    status = early;
    await expect(pusher.send({ subscription: subscribe('ana'), payload: {} })).rejects.toThrow();
  });

  it.each([400, 401, 403, 413])(
    'that the service refuses for good (%d) is not: whoever registers an address could have jobs given up',
    async (refused) => {
      status = refused;
      expect(await pusher.send({ subscription: subscribe('ana'), payload: {} })).toBe('refused');
    },
  );

  it.each([
    'a token of another kind',
    '{}',
    subscribe('x', 'http://127.0.0.1:1'),
    subscribe('x', 'https://127.0.0.1', 'x'),
    // A key of the right length that is not a point on the curve.
    subscribe(
      'x',
      'https://127.0.0.1',
      Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]).toString('base64url'),
    ),
    subscribe('x', 'https://169.254.169.254'),
    subscribe('x', 'https://127.0.0.1:1'),
    subscribe('x', 'https://ana:secret@127.0.0.1'),
    subscribe('x', 'https://127.0.0.1.evil.example'),
  ])('is never sent to %s', async (subscription) => {
    expect(await pusher.send({ subscription, payload: {} })).toBe('gone');
    expect(requests).toEqual([]);
  });

  it.each([
    ['fcm.googleapis.com', true],
    ['updates.push.services.mozilla.com', true],
    ['push.services.mozilla.com', false],
    ['evilfcm.googleapis.com', false],
    ['fcm.googleapis.com.evil.example', false],
  ])('%s: %s', (host, isOne) => {
    expect(isPushHost(host, ['fcm.googleapis.com', '.push.services.mozilla.com'])).toBe(isOne);
  });
});

it('reaches each device of a member once, and forgets the token of one that went away', async () => {
  const line = openOutboxHarness(world);
  const { orgId, chloe } = await world.org();
  for (const name of ['laptop', 'phone']) {
    await world.rows(
      `insert into devices (org_id, member_id, device_id, id, name, platform, push_token, token_id)
       values ($1, $2, $3, $4, $3, 'web', $5, (select t.id from tokens t where t.org_id = $1 and t.member_id = $2 limit 1))`,
      orgId,
      chloe.me.memberId,
      name,
      newId(),
      subscribe(name),
    );
  }
  const notificationId = newId();
  await world.rows(
    `insert into notifications (org_id, id, member_id, kind, title, body, actor, created_at)
     values ($1, $2, $3, 'mention', 'Ana mentioned you', 'See here', '{"name": "Ana"}', now())`,
    orgId,
    notificationId,
    chloe.me.memberId,
  );
  const mails: Mail[] = [];
  const mailer: Mailer = { send: async (mail) => void mails.push(mail), close: () => undefined };
  const ways = {
    pusher,
    mailer,
    baseUrl: 'https://muster.example',
    messageRate: { burst: 5, seconds: 120 },
    chatSender: createSender({ networks: [] }),
    seals: createSecretCipher([]),
  };
  line.startWorkers({
    'notification.deliver': deliverNotification(ways),
    'notification.mail': mailNotification(ways),
    'notification.push': pushNotification(ways),
  });
  const settled = (rowsAtLeast: number) =>
    waitUntil(async () => {
      await line.runRelayTurn();
      const rows = await line.rows(orgId);
      return rows.length >= rowsAtLeast && rows.every((row) => row.done);
    });
  await line.ask(orgId, 'notification.deliver', { notificationId });
  await settled(4);
  expect(mails).toMatchObject([{ to: 'chloe@example.com' }]);
  expect(requests.map(({ path }) => path).sort()).toEqual(['/laptop', '/phone']);
  // The outbox contains neither URLs nor keys of devices.
  const payloads = await world.rows<{ payload: object }>(
    'select payload from outbox where org_id = $1',
    orgId,
  );
  expect(JSON.stringify(payloads)).not.toContain('127.0.0.1');

  status = 410;
  await line.ask(orgId, 'notification.deliver', { notificationId });
  await settled(8);
  expect(
    await world.rows('select device_id from devices where org_id = $1 and push_token is not null', orgId),
  ).toEqual([]);
  await line.close();
});
