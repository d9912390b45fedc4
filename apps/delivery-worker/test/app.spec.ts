/** The complete worker: its endpoints, and its operation from start to stop. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { openQueues } from '@muster/redis/queues';
import { type People, type Person, useWorld } from '@muster/testing';
import { pino } from 'pino';
import { createDeliveryWorker, type DeliveryWorker } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { redisUrl, waitUntil } from './line.ts';

const world = useWorld({});
const prefix = `{spec-${randomBytes(6).toString('hex')}}`;
let folder: string;
let people: People;
let operator: Person;
let worker: DeliveryWorker;
const stalledQueueReports: (readonly string[])[] = [];

const environment = (): Record<string, string> => ({
  DATABASE_URL: world.database.url,
  REDIS_URL: redisUrl(),
  BASE_URL: 'https://muster.example',
  MAIL_FOLDER: folder,
});

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'muster-mail-'));
  people = await world.org();
  operator = await world.token(people.orgId, people.ana.me.memberId, { scopes: ['platform'] });
  worker = createDeliveryWorker(readConfig(environment()), pino({ level: 'silent' }), {
    prefix,
    onStalledQueues: (queues) => stalledQueueReports.push(queues),
  });
  await worker.start();
});
afterAll(async () => {
  await worker.service.stop();
  await worker.stop();
  const queues = openQueues({ url: redisUrl(), prefix, onError: () => undefined });
  for (const queue of queues.all) await queue.obliterate({ force: true });
  await queues.close();
  await rm(folder, { recursive: true });
});

const get = (url: string, authorization?: string) =>
  worker.service.app.inject({ url, headers: authorization === undefined ? {} : { authorization } });
const metrics = () => worker.service.metrics.registry.metrics();
const basicAuthHeader = (password: string): string =>
  `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;

it('takes work from the outbox by itself, and does it', async () => {
  const invitationId = newId();
  await world.rows(
    `insert into invitations (org_id, id, email, role, invited_by, expires_at)
     values ($1, $2, 'eve@example.com', 'member', '{"name": "Ana"}', now() + interval '1 day')`,
    people.orgId,
    invitationId,
  );
  await world.rows(
    `insert into outbox (org_id, id, topic, payload) values ($1, $2, 'invitation.mail', $3)`,
    people.orgId,
    newId(),
    { invitationId },
  );
  await waitUntil(async () => (await readdir(folder)).some((file) => file.includes('eve@example.com')));
});

it('keeps its schedule in Redis, with a canary on each queue', async () => {
  const queues = openQueues({ url: redisUrl(), prefix, onError: () => undefined });
  const schedulers = async (): Promise<string[]> =>
    (await Promise.all(queues.all.map((queue) => queue.getJobSchedulers())))
      .flat()
      .map(({ key, every }) => `${key} ${Number(every) / 1_000}`)
      .sort();
  await waitUntil(async () => (await schedulers()).length === 15);
  expect(await schedulers()).toEqual([
    ...Array.from({ length: 6 }, () => 'canary 30'),
    'deletions.remove 60',
    'digests.request 600',
    'files.remove 60',
    'forge.reconcile 600',
    'identityProviders.check 86400',
    'leases.sweep 5',
    'retention.purge 3600',
    'seats.reconcile 86400',
    'tokens.warn 3600',
  ]);
  await queues.close();
});

describe('what it shows', () => {
  it('is ready with Postgres and Redis', async () => {
    const ready = await get('/readyz');
    expect({ status: ready.statusCode, body: ready.json<object>() }).toEqual({
      status: 200,
      body: { status: 'ready', checks: { postgres: 'ok', redis: 'ok' } },
    });
  });

  it('counts what waits, what is late, what died and how jobs ended', async () => {
    const dead = newId();
    await world.rows(
      `insert into outbox (org_id, id, topic, payload, dead_at) values ($1, $2, 'notification.mail', '{}', now())`,
      people.orgId,
      dead,
    );
    // The e-mail arrives shortly before its job has ended.
    const ended = 'muster_jobs_total{name="invitation.mail",outcome="done"';
    await waitUntil(async () => (await metrics()).includes(ended));
    const text = await metrics();
    expect(text).toContain('muster_outbox_dead{topic="notification.mail",service="delivery-worker"} 1');
    expect(text).toContain('muster_outbox_undone{topic="notification.mail",service="delivery-worker"} 0');
    expect(text).toMatch(
      /muster_queue_jobs\{queue="deliver",state="waiting",service="delivery-worker"\} \d+/,
    );
    expect(text).toContain(
      'muster_jobs_total{name="invitation.mail",outcome="done",service="delivery-worker"} 1',
    );
    expect(text).toContain('# TYPE muster_outbox_lag_seconds gauge');
    expect(text).toContain('# TYPE muster_outbox_oldest_undone_seconds gauge');
  });

  it('counts executions by state, leases, and for how long nobody was told of one that ended', async () => {
    const text = await metrics();
    for (const state of ['available', 'leased', 'waiting_input', 'stalled', 'offered', 'submitted'])
      expect(text).toContain(`muster_executions{state="${state}",service="delivery-worker"} 0`);
    expect(text).not.toContain('state="completed"');
    for (const state of ['live', 'expired'])
      expect(text).toContain(`muster_leases{state="${state}",service="delivery-worker"} 0`);
    expect(text).toContain('muster_lease_sweep_lag_seconds{service="delivery-worker"} 0');
  });

  it('shows its queues to operators of the installation alone', async () => {
    for (const url of ['/queues', '/queues/api/queues', '/queues/static/images/logo.svg']) {
      const nobody = await get(url);
      expect({ url, status: nobody.statusCode, asks: nobody.headers['www-authenticate'] }).toEqual({
        url,
        status: 401,
        asks: 'Basic realm="Muster", charset="UTF-8"',
      });
      expect((await get(url, basicAuthHeader(people.ana.me.token))).statusCode).toBe(403);
      expect((await get(url, 'Bearer must_live_unknown')).statusCode).toBe(401);
    }
    const page = await get('/queues', basicAuthHeader(operator.me.token));
    expect({ status: page.statusCode, type: page.headers['content-type'] }).toEqual({
      status: 200,
      type: expect.stringContaining('text/html'),
    });
    const listed = await get('/queues/api/queues', `Bearer ${operator.me.token}`);
    expect(listed.json<{ queues: { name: string }[] }>().queues.map(({ name }) => name)).toEqual([
      'deliver',
      'sync',
      'upkeep',
      'leases',
      'billing',
      'exports',
    ]);
  });

  it('shows nothing more to an operator whose token was revoked', async () => {
    const { orgId, ana } = people;
    const { me } = await world.token(orgId, ana.me.memberId, { scopes: ['platform'] });
    const look = async () => (await get('/queues', basicAuthHeader(me.token))).statusCode;
    expect(await look()).toBe(200);
    await world.rows(
      'update tokens set revoked_at = now() where hash = sha256($1::bytea)',
      Buffer.from(me.token),
    );
    expect(await look()).toBe(401);
  });

  it('lets nobody change the queues there', async () => {
    const answer = await worker.service.app.inject({
      method: 'PUT',
      url: '/queues/api/queues/deliver/pause',
      headers: { authorization: basicAuthHeader(operator.me.token) },
    });
    expect(answer.statusCode).toBe(405);
  });
});

describe('the configuration', () => {
  it.each([
    [{ MAIL_FOLDER: '' }, 'neither SMTP_URL nor MAIL_FOLDER is set'],
    [{ VAPID_PUBLIC_KEY: 'x' }, 'VAPID_PUBLIC_KEY, VAPID_PRIVATE_KEY and VAPID_SUBJECT go together'],
    [{ REDIS_URL: '' }, 'REDIS_URL is not set'],
    [{ SMTP_URL: 'http://mail' }, 'SMTP_URL'],
  ])('%p is refused by name', (change, message) => {
    expect(() => readConfig({ ...environment(), ...change })).toThrow(message);
  });
});

it('has not fallen silent', () => {
  expect(stalledQueueReports).toEqual([]);
});
