/** Tests webhooks of licenses: events are signed, retried until delivered, and recorded for expiring licenses. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId, sql } from '@muster/driver';
import { suspendLicense } from '../src/operators/change.ts';
import { makeProduct } from '../src/operators/products.ts';
import { makeToken } from '../src/operators/tokens.ts';
import { deleteOldDeliveries, recordExpiryEvents } from '../src/webhooks/endings.ts';
import { type LicenseWebhookReceiver, startReceiver } from './receiver.ts';
import {
  type HttpAnswer,
  type LicenseWorld,
  noLimits,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

const machine = 'machine-of-ana-0001';
const environment = { ...noLimits, LIMIT_OPERATORS: '100000/1', WEBHOOK_NETWORKS: '127.0.0.0/8:*' };

let world: LicenseWorld;
let service: RunningService;
let secret: string;
let receiver: LicenseWebhookReceiver;
beforeAll(async () => {
  world = await openLicenseWorld();
  ({ secret } = await world.asOperator((ask) => makeToken(ask, { name: 'spec', scopes: ['webhooks'] })));
  // Without an interval, the courier sends only when a test calls it.
  service = await world.start({ environment, webhookPollMillis: null });
});
afterAll(() => world.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  receiver.close();
  await world.rows('delete from licenses.webhook_endpoints');
});

const call = (path: string, body: unknown): Promise<HttpAnswer> =>
  service.post(`/api/operators/webhooks/${path}`, body, { authorization: `Bearer ${secret}` });

async function createEndpoint(more: object = {}): Promise<string> {
  const { status, json } = await call('create', { url: receiver.url, ...more });
  expect(status).toBe(200);
  receiver.secrets.push(json['secret'] as string);
  return (json['endpoint'] as { id: string }).id;
}

const receivedTypes = (): string[] => receiver.receivedWebhooks.map(({ type }) => type);
const makeDue = () =>
  world.rows(`update licenses.webhook_deliveries set next_at = now() where state = 'waiting'`);
const statesOf = async (id: string) =>
  ((await call('deliveries', { id })).json['items'] as { state: string; tries: number }[]).map(
    ({ state, tries }) => [state, tries],
  );

it('tell of a license’s life, signed, with the license as it is', async () => {
  await createEndpoint();
  const { id, key } = await world.issue({ orderRef: 'W-1' });
  await service.activate(key, machine);
  await service.release(key, machine);
  await world.asOperator((ask) => suspendLicense(ask, { id }, 'a reason'));
  await service.courier.send();
  expect(receivedTypes().toSorted()).toEqual([
    ...['license.activated', 'license.issued', 'license.released', 'license.suspended'],
  ]);
  const activated = receiver.receivedWebhooks.find(({ type }) => type === 'license.activated');
  expect(activated?.data).toMatchObject({
    license: { id, orderRef: 'W-1', state: 'suspended', keyEnding: key.slice(-4) },
    actor: 'machine',
  });
  // Times in the data of an event have the format of times in all answers.
  expect(activated?.data.details).toMatchObject({
    expiresAt: activated?.data.license.expiresAt,
  });
  const released = receiver.receivedWebhooks.find(({ type }) => type === 'license.released');
  expect(released?.data.details).toMatchObject({
    offlineUntil: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(JSON.stringify(receiver.receivedWebhooks)).not.toContain(key);
  expect(JSON.stringify(receiver.receivedWebhooks)).not.toContain(machine);
  expect(receiver.refusedCount).toBe(0);
});

it('tell an endpoint what it asked for, of its own product, while it is active', async () => {
  await world.asOperator((ask) => makeProduct(ask, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
  const id = await createEndpoint({ kinds: ['activated'] });
  const { key } = await world.issue();
  await world.issue({ product: 'acme' });
  await service.activate(key, machine);
  await call('update', { id, isActive: false });
  await service.activate((await world.issue()).key, machine);
  await call('update', { id, isActive: true });
  await service.courier.send();
  expect(receivedTypes()).toEqual(['license.activated']);
});

it('are signed as before after the seal of the environment took the place of the database’s', async () => {
  const own = await openLicenseWorld();
  try {
    const { secret: token } = await own.asOperator((ask) =>
      makeToken(ask, { name: 'spec', scopes: ['webhooks'] }),
    );
    const asked = async (running: RunningService, path: string, body: object) =>
      (await running.post(`/api/operators/webhooks/${path}`, body, { authorization: `Bearer ${token}` }))
        .json;
    const before = await own.start({ environment, webhookPollMillis: null });
    const { endpoint, secret: first } = await asked(before, 'create', { url: receiver.url });
    const { secret: second } = await asked(before, 'rotateSecret', { id: (endpoint as { id: string }).id });
    await before.stop();
    const after = await own.start({
      environment: { ...environment, LICENSE_SEAL: 'a seal of the environment' },
      webhookPollMillis: null,
    });
    for (const one of [first, second]) {
      receiver.secrets.splice(0, 1, one as string);
      await own.issue();
      await after.courier.send();
    }
    expect(receivedTypes()).toEqual(['license.issued', 'license.issued']);
  } finally {
    await own.close();
  }
});

it('tell nothing of what was rolled back', async () => {
  const id = await createEndpoint();
  await world
    .asOperator(async (db) => {
      await db.all(
        sql`insert into licenses.license_events (id, license_id, kind, actor, epoch)
          select ${newId()}, id, 'revoked', 'operator', 0 from licenses.licenses limit 1`,
      );
      throw new Error('never mind');
    })
    .catch(() => undefined);
  expect(await statesOf(id)).toEqual([]);
});

it('come again no sooner than a busy receiver asks for', async () => {
  const id = await createEndpoint();
  await world.issue();
  Object.assign(receiver, { status: 503, retryAfter: '7200' });
  await service.courier.send();
  expect(await statesOf(id)).toEqual([['waiting', 1]]);
  const [due] = await world.rows(
    `select next_at > now() + interval '1 hour' as "isLate" from licenses.webhook_deliveries where endpoint_id = $1`,
    id,
  );
  expect(due).toEqual({ isLate: true });
});

it('come again with the same id until the receiver takes them', async () => {
  const id = await createEndpoint();
  await world.issue();
  receiver.status = 500;
  await service.courier.send();
  expect(await statesOf(id)).toEqual([['waiting', 1]]);
  // The courier sends nothing, because the retry is not due yet.
  expect(await service.courier.send()).toBe(0);
  receiver.status = 200;
  await makeDue();
  await service.courier.send();
  expect(await statesOf(id)).toEqual([['delivered', 2]]);
  expect(receivedTypes()).toEqual(['license.issued']);
  const { json } = await call('deliveries', { id });
  expect(json['items']).toMatchObject([{ lastStatus: 200, lastError: null, kind: 'issued' }]);
});

it('are given up after ten tries, and told once more when an operator says so', async () => {
  const id = await createEndpoint();
  await world.issue();
  receiver.status = 503;
  for (let count = 0; count < 10; count += 1) {
    await makeDue();
    await service.courier.send();
  }
  expect(await statesOf(id)).toEqual([['given_up', 10]]);
  receiver.status = 200;
  const [{ id: delivery } = { id: '' }] = (await call('deliveries', { id })).json['items'] as {
    id: string;
  }[];
  expect((await call('redeliver', { id: delivery })).status).toBe(200);
  await service.courier.send();
  expect(await statesOf(id)).toEqual([['delivered', 1]]);
});

it('are tried by one of several processes, and by the next where that one died', async () => {
  const other = await world.start({ environment, webhookPollMillis: null });
  await createEndpoint({ kinds: ['issued'] });
  for (let count = 0; count < 6; count += 1) await world.issue();
  await Promise.all([service.courier.send(), other.courier.send()]);
  await Promise.all([service.courier.send(), other.courier.send()]);
  expect(new Set(receiver.receivedWebhooks.map(({ id }) => id)).size).toBe(6);
  expect(receiver.receivedWebhooks).toHaveLength(6);
  await other.stop();
  // Simulates that a process died during an attempt.
  await world.issue();
  await world.rows(
    `update licenses.webhook_deliveries set tries = 1, next_at = now() + interval '1 minute' where state = 'waiting'`,
  );
  expect(await service.courier.send()).toBe(0);
  await makeDue();
  expect(await service.courier.send()).toBe(1);
  expect(receiver.receivedWebhooks).toHaveLength(7);
});

it('go on by themselves', async () => {
  const own = await world.start({ environment, webhookPollMillis: 20 });
  await createEndpoint({ kinds: ['issued'] });
  await world.issue();
  await waitUntil(async () => receiver.receivedWebhooks.length === 1);
  await own.stop();
});

it('wait for no other endpoint: one that does not answer holds up its own alone', async () => {
  const [own, slow] = [await world.start({ environment, webhookPollMillis: 20 }), receiver];
  const { promise, resolve: answer } = Promise.withResolvers<undefined>();
  slow.holdUntil = promise;
  try {
    await createEndpoint({ kinds: ['issued'] });
    await world.issue();
    await waitUntil(async () => slow.receivedWebhooks.length === 1);
    receiver = await startReceiver();
    const quick = await createEndpoint({ kinds: ['issued'] });
    // Issues more licenses than an endpoint may have concurrent attempts.
    for (let count = 0; count < 20; count += 1) await world.issue();
    await waitUntil(async () => receiver.receivedWebhooks.length === 20);
    await waitUntil(async () => (await statesOf(quick)).every(([state]) => state === 'delivered'));
    expect(slow.receivedWebhooks).toHaveLength(1);
  } finally {
    answer(undefined);
    // Stopping the service waits for the running attempts and stores their outcomes.
    await own.stop();
    slow.close();
  }
  expect(
    await world.rows(`select from licenses.webhook_deliveries where state = 'waiting' and tries > 0`),
  ).toEqual([]);
});

it('are signed by both secrets while one is exchanged, and by the newest alone afterwards', async () => {
  const id = await createEndpoint();
  const { json } = await call('rotateSecret', { id });
  const [before = ''] = receiver.secrets;
  const send = async (): Promise<void> => {
    await world.issue();
    await service.courier.send();
  };
  await send();
  receiver.secrets.splice(0, 1, json['secret'] as string);
  await send();
  expect([receiver.receivedWebhooks.length, receiver.refusedCount]).toEqual([2, 0]);
  await call('dropOldSecret', { id });
  receiver.secrets.splice(0, 1, before);
  await send();
  expect([receiver.receivedWebhooks.length, receiver.refusedCount]).toEqual([2, 1]);
});

it('are tried at once by an operator, who hears what came back', async () => {
  const id = await createEndpoint();
  expect((await call('test', { id })).json).toMatchObject({ status: 200, error: null });
  expect(receivedTypes()).toEqual(['license.test']);
  receiver.status = 418;
  expect((await call('test', { id })).json).toMatchObject({ status: 418, error: 'answered 418' });
});

it('go to no address that the operator did not open', async () => {
  const closed = await world.start({ environment: noLimits, webhookPollMillis: null });
  await createEndpoint();
  await world.issue();
  await closed.courier.send();
  expect([receiver.receivedWebhooks, receiver.refusedCount]).toEqual([[], 0]);
  await closed.stop();
});

it('keep no secret that can be read, and end with their endpoint', async () => {
  const id = await createEndpoint();
  await world.issue();
  const [row] = await world.rows<{ text: string }>(
    'select t::text as text from licenses.webhook_endpoints t',
  );
  const [own = ''] = receiver.secrets;
  const bytes = Buffer.from(own).toString('hex');
  expect(row?.text.includes(own) === true || row?.text.includes(bytes) === true).toBe(false);
  expect((await call('delete', { id })).status).toBe(200);
  await service.courier.send();
  expect(receiver.receivedWebhooks).toEqual([]);
});

describe('the end of a license', () => {
  const endsIn = async (seconds: number): Promise<string> => {
    const { id, key } = await world.issue();
    await service.activate(key, machine);
    await world.rows(
      `update licenses.licenses set expires_at = now() + make_interval(secs => $2) where id = $1`,
      ...[id, seconds],
    );
    return id;
  };
  const kindsOf = async (id: string): Promise<string[]> =>
    (
      await world.rows<{ kind: string }>(
        `select kind from licenses.license_events where license_id = $1 and actor = 'service' order by id`,
        id,
      )
    ).map(({ kind }) => kind);
  const tell = () => world.asOperator(recordExpiryEvents);

  it('is told of a week before, and when it is there, once each', async () => {
    await createEndpoint({ kinds: ['expiring', 'expired'] });
    const day = 86_400;
    const [soon, over, far] = [await endsIn(6 * day), await endsIn(-60), await endsIn(8 * day)];
    await tell();
    await tell();
    expect([await kindsOf(soon), await kindsOf(over), await kindsOf(far)]).toEqual([
      ...[['expiring'], ['expired'], []],
    ]);
    await service.courier.send();
    expect(receivedTypes().toSorted()).toEqual(['license.expired', 'license.expiring']);
    await world.rows(`update licenses.licenses set expiry_told = 1 where id = $1`, soon);
    await world.rows(
      `alter table licenses.licenses disable trigger end_moved;
       update licenses.licenses set expires_at = now() where expiry_told = 1;
       alter table licenses.licenses enable trigger end_moved`,
    );
    await tell();
    expect(await kindsOf(soon)).toEqual(['expiring', 'expired']);
  });

  it('is told of anew after a renewal, and not of what is suspended', async () => {
    const id = await endsIn(-60);
    await tell();
    await world.rows(`update licenses.licenses set expires_at = now() + interval '1 day' where id = $1`, id);
    await tell();
    expect(await kindsOf(id)).toEqual(['expired', 'expiring']);
    const suspended = await endsIn(-60);
    await world.asOperator((ask) => suspendLicense(ask, { id: suspended }, null));
    await tell();
    expect(await kindsOf(suspended)).toEqual([]);
  });

  it('is told of once by several processes', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => endsIn(-60)));
    await Promise.all([tell(), tell(), tell()]);
    await tell();
    for (const id of ids) expect(await kindsOf(id)).toEqual(['expired']);
  });
});

it('are forgotten 30 days after they were settled', async () => {
  const id = await createEndpoint();
  for (let count = 0; count < 2; count += 1) await world.issue();
  await service.courier.send();
  await world.rows(
    `update licenses.webhook_deliveries set settled_at = now() - interval '31 days' where id in (
       select id from licenses.webhook_deliveries limit 1)`,
  );
  await world.asOperator(deleteOldDeliveries);
  expect(await statesOf(id)).toHaveLength(1);
});
