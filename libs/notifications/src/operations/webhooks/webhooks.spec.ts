/**
 * The rights to manage endpoints, and the data that is stored. Tests of sending are in
 * apps/delivery-worker/test.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createSecretCipher, parseNetworks } from '@muster/outbound';
import { type InputOf } from '@muster/contract';
import { type NotificationsRegistry, notificationsRegistry } from '@muster/notifications-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeRole, arrangeStory } from '../../../test/events.ts';
import { notificationReaction } from '../../notify.ts';
import { activity } from '../activity/handlers.ts';
import { notifications } from '../notifications/handlers.ts';
import { createWebhookHandlers } from './handlers.ts';

const webhooksConfig = {
  networks: parseNetworks('10.0.0.0/8'),
  seals: createSecretCipher(['a key of this installation, for specs']),
  subjectUrl: undefined,
};
const webhooks = createWebhookHandlers(webhooksConfig);
const world = useWorld({ activity, notifications, webhooks }, [notificationReaction]);

let people: PeopleOf<typeof world>;
let projectId: string;
/** Lea is a lead of the private project HID, and Carl is a contributor of it. */
let lea: PersonOf<typeof world>;
let carl: PersonOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
  const { orgId, ana } = people;
  lea = await world.member(orgId, 'Lea', 'member');
  carl = await world.member(orgId, 'Carl', 'member');
  ({ projectId } = await arrangeStory(world, orgId, ana.me.memberId, { key: 'HID', visibility: 'private' }));
  await arrangeRole(world, orgId, projectId, lea.me.memberId, 'lead');
  await arrangeRole(world, orgId, projectId, carl.me.memberId, 'contributor');
});

type Draft = Partial<InputOf<NotificationsRegistry['webhooks']['create']>>;
const url = 'https://hooks.acme.example/muster?key=secret-in-it';
const create = (who: PersonOf<typeof world>, draft: Draft = {}) =>
  who.webhooks.create({ url, kinds: ['story.created', 'story.created'], ...draft });

describe('webhooks.create', () => {
  it('answers what was made, and its secret once: sealed in the database, and nowhere else', async () => {
    const answer = await create(people.ana);
    expect(notificationsRegistry.webhooks.create.result.parse(answer)).toEqual(answer);
    expect(answer.webhook).toMatchObject({
      ...{ projectId: null, url, kinds: ['story.created'], order: 'parallel', description: null, version: 1 },
      ...{ state: 'active', pausedReason: null, pausedAt: null, lag: 0, failing: 0, lastSuccessAt: null },
      madeBy: { kind: 'member', memberId: people.ana.me.memberId, name: 'Ana' },
    });
    expect(await people.ana.webhooks.get({ webhookId: answer.webhook.id })).toEqual({
      webhook: answer.webhook,
    });
    for (const table of ['webhooks', 'audit', 'activity', 'outbox', 'idempotency_keys']) {
      const rows = await world.rows<{ text: string }>(
        `select t::text as text from ${table} t where org_id = $1`,
        people.orgId,
      );
      for (const { text } of rows) {
        expect(text).not.toContain(answer.secret);
        expect(text).not.toContain(Buffer.from(answer.secret).toString('hex'));
      }
    }
  });

  it('answers the same secret to the same key, as long as nobody rotated it', async () => {
    const params = { url, kinds: ['story.created'] };
    const idempotencyKey = 'once';
    const call = async () => {
      const { json } = await world.call(people.ana, webhooks.create, params, { idempotencyKey });
      return JSON.parse(json) as Awaited<ReturnType<typeof create>>;
    };
    const first = await call();
    expect(await call()).toEqual(first);
    expect((await people.ana.webhooks.list({})).items).toHaveLength(1);
  });

  it('answers no secret to the same key that came after: not a rotated one, and none where it is deleted', async () => {
    const keyed = async (
      operation: typeof webhooks.create | typeof webhooks.rotateSecret,
      params: object,
    ) => {
      const { json } = await world.call(people.ben, operation, params, { idempotencyKey: 'once' });
      return JSON.parse(json) as Awaited<ReturnType<typeof create>>;
    };
    const made = () => keyed(webhooks.create, { url, kinds: ['story.created'] });
    const first = await made();
    const webhookId = first.webhook.id;
    const rotated = () => keyed(webhooks.rotateSecret, { webhookId });
    const second = await rotated();
    expect(await rotated()).toEqual(second);
    await world.rows(`update members set role = 'member' where id = $1`, people.ben.me.memberId);
    await people.ana.webhooks.rotateSecret({ webhookId });
    expect(await made()).toEqual({ ...first, secret: '' });
    expect(await rotated()).toEqual({ ...second, secret: '' });
    await people.ana.webhooks.delete({ webhookId });
    expect(await made()).toEqual({ ...first, secret: '' });
  });

  it('says what happened by the host alone, since an address may hold a secret', async () => {
    const { webhook } = await create(people.ana);
    const { items } = await people.dan.activity.list({});
    expect(items[0]).toMatchObject({
      kind: 'webhook.created',
      subject: { type: 'webhook', id: webhook.id, title: 'hooks.acme.example' },
    });
    expect(JSON.stringify(items)).not.toContain('secret-in-it');
  });

  it.each([
    'http://8.8.8.8/',
    'https://hooks.acme.example:3000/',
    'https://127.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::ffff:192.168.0.1]/',
    'https://ana:secret@hooks.acme.example/',
    'ftp://hooks.acme.example/',
    'nonsense',
  ])('refuses to send to %s', async (wrong) => {
    await expect(create(people.ana, { url: wrong })).rejects.toMatchObject({
      status: 400,
      body: { details: { issues: [{ path: 'url' }] } },
    });
  });

  it('sends to networks that the operator named, also by http', async () => {
    expect((await create(people.ana, { url: 'http://10.1.2.3/hook' })).webhook.url).toBe(
      'http://10.1.2.3/hook',
    );
  });

  it.each([{ kinds: [] }, { kinds: ['story.exploded'] }, { order: 'any' }, { description: 'x'.repeat(501) }])(
    'refuses %j',
    async (wrong) => {
      const params = { url, kinds: ['story.created'], ...wrong };
      await expect(world.call(people.ana, webhooks.create, params)).rejects.toMatchObject({ status: 400 });
    },
  );

  it('makes fifty in an organization and no more, also when two make the last one at once', async () => {
    for (let nth = 1; nth < 50; nth += 1) await create(people.ana);
    const outcomes = await Promise.allSettled([create(people.ana), create(people.ben), create(people.ben)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(create(people.ana)).rejects.toMatchObject({ status: 422, reason: 'limit_exceeded' });
    const [first] = (await people.ana.webhooks.list({})).items;
    await people.ana.webhooks.delete({ webhookId: first?.id ?? '' });
    await create(people.ana);
  });

  it('makes none of an archived project', async () => {
    await world.rows('update projects set archived_at = now() where id = $1', projectId);
    await expect(create(lea, { projectId })).rejects.toMatchObject({ status: 422, reason: 'archived' });
  });
});

describe('who may', () => {
  const deeds = (who: PersonOf<typeof world>, webhookId: string): Record<string, () => Promise<unknown>> => ({
    get: () => who.webhooks.get({ webhookId }),
    update: () => who.webhooks.update({ webhookId, description: 'mine' }),
    rotateSecret: () => who.webhooks.rotateSecret({ webhookId }),
    test: () => who.webhooks.test({ webhookId }),
    pause: () => who.webhooks.pause({ webhookId }),
    resume: () => who.webhooks.resume({ webhookId }),
    replay: () => who.webhooks.replay({ webhookId, from: 1, to: 2 }),
    deliveries: () => who.webhooks.deliveries.list({ webhookId }),
    delete: () => who.webhooks.delete({ webhookId }),
  });

  it('for a project: who leads it, and admins; others hear no, and who cannot see it that there is none', async () => {
    const { webhook } = await create(lea, { projectId: 'HID' });
    await expect(create(carl, { projectId })).rejects.toMatchObject({ status: 403, reason: 'role' });
    await expect(create(people.chloe, { projectId })).rejects.toMatchObject({ status: 404 });
    for (const call of Object.values(deeds(carl, webhook.id)))
      await expect(call()).rejects.toMatchObject({ status: 403, reason: 'role' });
    for (const call of Object.values(deeds(people.chloe, webhook.id)))
      await expect(call()).rejects.toMatchObject({ status: 404 });
    for (const call of Object.values(deeds(lea, webhook.id))) await call();
    const { webhook: another } = await create(people.ben, { projectId });
    for (const call of Object.values(deeds(people.ben, another.id))) await call();
  });

  it('for the organization: admins alone, with the scope of one', async () => {
    const { webhook } = await create(people.ben);
    await expect(create(lea)).rejects.toMatchObject({ status: 403, reason: 'role' });
    for (const call of Object.values(deeds(lea, webhook.id)))
      await expect(call()).rejects.toMatchObject({ status: 403, reason: 'role' });
    const writer = await world.token(people.orgId, people.ben.me.memberId, { scopes: ['write'] });
    for (const call of Object.values(deeds(writer, webhook.id)))
      await expect(call()).rejects.toMatchObject({ status: 403, reason: 'scope' });
    for (const call of Object.values(deeds(people.ana, webhook.id))) await call();
  });

  it('is never an agent, nor a token that is bound to projects', async () => {
    const { webhook } = await create(lea, { projectId });
    const agent = await world.token(people.orgId, lea.me.memberId, { agent: 'Bot' });
    const bound = await world.token(people.orgId, lea.me.memberId, { projectIds: [projectId] });
    for (const call of Object.values(deeds(agent, webhook.id)))
      await expect(call()).rejects.toMatchObject({ status: 403, reason: 'agents_may_not' });
    await expect(create(bound, { projectId })).rejects.toMatchObject({ status: 403, reason: 'bound_token' });
    const refused = await world.rows(
      'select 1 from audit where org_id = $1 and outcome = $2',
      people.orgId,
      'denied',
    );
    // Each refused write leaves an audit entry, and the two refused reads leave none.
    expect(refused).toHaveLength(Object.keys(deeds(agent, '')).length - 2 + 1);
  });

  it('for audit entries: admins alone, and never for a project', async () => {
    const kinds = ['audit.*'] as const;
    await expect(create(lea, { projectId, kinds: [...kinds] })).rejects.toMatchObject({ status: 403 });
    await expect(create(people.ana, { projectId, kinds: [...kinds] })).rejects.toMatchObject({
      ...{ status: 400, body: { details: { issues: [{ path: 'kinds' }] } } },
    });
    const { webhook } = await create(lea, { projectId });
    const change = (who: PersonOf<typeof world>) =>
      who.webhooks.update({ webhookId: webhook.id, kinds: ['audit.denied'] });
    await expect(change(lea)).rejects.toMatchObject({ status: 403 });
    await expect(change(people.ana)).rejects.toMatchObject({ status: 400 });
    const writer = await world.token(people.orgId, people.ben.me.memberId, { scopes: ['write'] });
    await expect(create(writer, { kinds: [...kinds] })).rejects.toMatchObject({
      status: 403,
      reason: 'scope',
    });
    const { webhook: ofAudit } = await create(people.ben, { kinds: ['audit.*', 'story.*', 'audit.*'] });
    expect(ofAudit.kinds).toEqual(['audit.*', 'story.*']);
    for (const call of Object.values(deeds(lea, ofAudit.id)))
      await expect(call()).rejects.toMatchObject({ status: 403, reason: 'role' });
  });

  it('lists: a lead those of the project, an admin all, oldest first, page by page', async () => {
    const first = (await create(lea, { projectId })).webhook;
    const second = (await create(people.ana)).webhook;
    const third = (await create(people.ana, { projectId })).webhook;
    expect((await lea.webhooks.list({ projectId: 'HID' })).items).toEqual([first, third]);
    await expect(lea.webhooks.list({})).rejects.toMatchObject({ status: 403 });
    await expect(carl.webhooks.list({ projectId })).rejects.toMatchObject({ status: 403 });
    await expect(people.chloe.webhooks.list({ projectId })).rejects.toMatchObject({ status: 404 });
    const page = await people.ben.webhooks.list({ limit: 2 });
    const rest = await people.ben.webhooks.list({ limit: 2, cursor: page.nextCursor ?? '' });
    expect([...page.items, ...rest.items]).toEqual([first, second, third]);
    expect(rest.nextCursor).toBeNull();
  });
});

describe('webhooks.update', () => {
  it('changes what is named, checks the address, and refuses another version', async () => {
    const { webhook } = await create(people.ana);
    const { webhook: changed } = await people.ana.webhooks.update({
      ...{ webhookId: webhook.id, kinds: ['spec.updated'], order: 'strict', expectedVersion: 1 },
    });
    expect(changed).toMatchObject({ kinds: ['spec.updated'], order: 'strict', url, version: 2 });
    await expect(
      people.ana.webhooks.update({ webhookId: webhook.id, order: 'parallel', expectedVersion: 1 }),
    ).rejects.toMatchObject({ status: 409, reason: 'version_mismatch' });
    await expect(
      people.ana.webhooks.update({ webhookId: webhook.id, url: 'https://10.0.0.1:22/' }),
    ).rejects.toMatchObject({ status: 400 });
    const { items } = await people.ana.activity.list({ kinds: ['webhook.updated'] });
    expect(items.map(({ data }) => data)).toEqual([{ fields: ['kinds', 'order'] }]);
  });
});

it('an admin who adds audit entries to the webhook of a former admin becomes its creator', async () => {
  const { webhook } = await create(people.ben);
  await world.rows(`update members set role = 'member' where id = $1`, people.ben.me.memberId);
  const { webhook: changed } = await people.ana.webhooks.update({
    ...{ webhookId: webhook.id, kinds: ['audit.*'], expectedVersion: 1 },
  });
  expect(changed).toMatchObject({ version: 2, madeBy: { memberId: people.ana.me.memberId } });
  expect(await people.ana.webhooks.get({ webhookId: webhook.id })).toEqual({ webhook: changed });
});

it.each(['task.*', 'story', 'story.*.*', '*', 'audit.*x', 'audit.other'])(
  'refuses the kind %s and names what is allowed',
  async (kind) => {
    const message = 'must be an event kind such as story.created, or a pattern such as story.* or audit.*';
    await expect(world.call(people.ana, webhooks.create, { url, kinds: [kind] })).rejects.toMatchObject({
      ...{ status: 400, details: { issues: [{ path: 'kinds[0]', message }] } },
    });
  },
);

describe('webhooks.delete', () => {
  it('leaves nothing to be found, and no secret', async () => {
    const { webhook } = await create(people.ana);
    await people.ana.webhooks.test({ webhookId: webhook.id });
    expect(await people.ana.webhooks.delete({ webhookId: webhook.id })).toEqual({ deleted: true });
    await expect(people.ana.webhooks.get({ webhookId: webhook.id })).rejects.toMatchObject({ status: 404 });
    await expect(people.ana.webhooks.delete({ webhookId: webhook.id })).rejects.toMatchObject({
      status: 404,
    });
    expect((await people.ana.webhooks.list({})).items).toEqual([]);
    expect(
      await world.rows('select length(secret) as bytes from webhooks where id = $1', webhook.id),
    ).toEqual([{ bytes: 0 }]);
  });
});

describe('pausing and resuming', () => {
  it('say so once, and tell nobody who asked for it', async () => {
    const { webhook } = await create(people.ana);
    const webhookId = webhook.id;
    for (let nth = 0; nth < 2; nth += 1)
      expect((await people.ana.webhooks.pause({ webhookId })).webhook).toMatchObject({
        state: 'paused',
        pausedReason: 'asked',
      });
    for (let nth = 0; nth < 2; nth += 1)
      expect((await people.ana.webhooks.resume({ webhookId })).webhook).toMatchObject({
        state: 'active',
        pausedReason: null,
      });
    const { items } = await people.ana.activity.list({ kinds: ['webhook.paused', 'webhook.resumed'] });
    expect(items.map(({ kind }) => kind)).toEqual(['webhook.resumed', 'webhook.paused']);
    expect((await people.ben.notifications.list({})).items).toEqual([]);
  });
});

describe('webhooks.test', () => {
  it('asks for one message, and for no more than ten that wait', async () => {
    const { webhook } = await create(people.ana);
    const { delivery } = await people.ana.webhooks.test({ webhookId: webhook.id });
    expect(delivery).toMatchObject({
      webhookId: webhook.id,
      seq: null,
      kind: 'webhook.test',
      state: 'pending',
      tries: [],
    });
    const { delivery: exchange } = await people.ana.webhooks.deliveries.get({ deliveryId: delivery.id });
    expect(JSON.parse(exchange.request.body)).toEqual({
      ...{ type: 'webhook.test', timestamp: delivery.createdAt, data: { webhookId: webhook.id } },
    });
    for (let nth = 1; nth < 10; nth += 1) await people.ana.webhooks.test({ webhookId: webhook.id });
    await expect(people.ana.webhooks.test({ webhookId: webhook.id })).rejects.toMatchObject({
      reason: 'limit_exceeded',
    });
  });
});

describe('webhooks.replay', () => {
  let webhookId: string;
  beforeEach(async () => {
    ({ id: webhookId } = (await create(people.ana)).webhook);
    await world.rows('update webhooks set sent_seq = 12000 where id = $1', webhookId);
  });
  const deliver = (from: number, to: number, at = 'now()') =>
    world.rows(
      `insert into webhook_deliveries (org_id, webhook_id, id, seq, activity_seq, event_at, event_id, kind, state, done_at)
       select $1, $2, gen_random_uuid(), n, n, ${at}, gen_random_uuid(), 'story.created', 'delivered', ${at}
       from generate_series($3::int, $4::int) n`,
      people.orgId,
      webhookId,
      from,
      to,
    );

  it('takes ten thousand at once, and no more', async () => {
    await deliver(1, 10_001);
    await expect(people.ana.webhooks.replay({ webhookId, from: 1, to: 10_001 })).rejects.toMatchObject({
      reason: 'limit_exceeded',
    });
    expect(await people.ana.webhooks.replay({ webhookId, from: 2, to: 10_001 })).toEqual({ count: 10_000 });
    // The deliveries are pending now, so the second replay schedules none of them again.
    expect(await people.ana.webhooks.replay({ webhookId, from: 2, to: 10_001 })).toEqual({ count: 0 });
  });

  it('refuses what is no longer kept', async () => {
    await deliver(100, 110);
    await expect(people.ana.webhooks.replay({ webhookId, from: 99, to: 105 })).rejects.toMatchObject({
      reason: 'resync',
    });
    const past = new Date(Date.now() - 31 * 86_400_000).toISOString();
    await expect(
      people.ana.webhooks.replay({ webhookId, from: past, to: new Date().toISOString() }),
    ).rejects.toMatchObject({ reason: 'resync' });
    expect(await people.ana.webhooks.replay({ webhookId, from: '100', to: 100 })).toEqual({ count: 1 });
    expect(await people.ana.webhooks.replay({ webhookId, from: 12_001, to: 12_002 })).toEqual({ count: 0 });
  });

  it.each([
    { from: 2, to: 1 },
    { from: 1, to: '2026-01-01T00:00:00Z' },
    { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' },
    { from: 0, to: 1 },
    { from: 'yesterday', to: 'today' },
  ])('refuses %j', async (range) => {
    await expect(world.call(people.ana, webhooks.replay, { webhookId, ...range })).rejects.toMatchObject({
      status: 400,
    });
  });
});

describe('what is known of deliveries', () => {
  it('is of the own organization alone', async () => {
    const { webhook } = await create(people.ana);
    const { delivery } = await people.ana.webhooks.test({ webhookId: webhook.id });
    const stranger = (await world.org()).ana;
    for (const call of [
      () => stranger.webhooks.get({ webhookId: webhook.id }),
      () => stranger.webhooks.deliveries.list({ webhookId: webhook.id }),
      () => stranger.webhooks.deliveries.get({ deliveryId: delivery.id }),
      () => stranger.webhooks.deliveries.redeliver({ deliveryId: delivery.id }),
    ])
      await expect(call()).rejects.toMatchObject({ status: 404 });
  });
});

describe('a webhook of a chat service', () => {
  const slackUrl = 'https://hooks.slack.com/services/T0/B0/secret-in-it';
  const toSlack = (who: PersonOf<typeof world> = people.ana, draft: Draft = {}) =>
    create(who, { url: slackUrl, format: 'slack', ...draft });

  it('keeps its address sealed, and shows the host alone', async () => {
    const { webhook, secret } = await toSlack();
    expect(secret).toBe('');
    expect(webhook).toMatchObject({ format: 'slack', url: 'https://hooks.slack.com/…', order: 'parallel' });
    expect((await people.ana.webhooks.list({})).items).toEqual([webhook]);
    for (const table of ['webhooks', 'audit', 'activity', 'outbox', 'idempotency_keys']) {
      const rows = await world.rows<{ text: string }>(
        `select t::text as text from ${table} t where org_id = $1`,
        people.orgId,
      );
      for (const { text } of rows) {
        expect(text).not.toContain('secret-in-it');
        expect(text).not.toContain(Buffer.from('secret-in-it').toString('hex'));
      }
    }
  });

  it('answers no address to the same key again', async () => {
    const params = { url: slackUrl, kinds: ['story.created'], format: 'slack' };
    const call = async () =>
      JSON.parse(
        (await world.call(people.ana, webhooks.create, params, { idempotencyKey: 'once' })).json,
      ) as object;
    const first = await call();
    expect(first).toMatchObject({ secret: '' });
    expect(await call()).toEqual(first);
  });

  it('takes another address, also on the same host', async () => {
    const { webhook } = await toSlack();
    const sealed = () => world.rows('select secret from webhooks where id = $1', webhook.id);
    const before = await sealed();
    const { webhook: changed } = await people.ana.webhooks.update({
      webhookId: webhook.id,
      url: 'https://hooks.slack.com/services/T0/B1/secret-in-it',
    });
    expect(changed).toMatchObject({ url: 'https://hooks.slack.com/…', version: webhook.version + 1 });
    expect(await sealed()).not.toEqual(before);
    expect((await people.ana.webhooks.get({ webhookId: webhook.id })).webhook).toEqual(changed);
    const { items } = await people.ana.activity.list({ kinds: ['webhook.updated'] });
    expect(items.map(({ data }) => data)).toEqual([{ fields: ['url'] }]);
  });

  it('changes with its address at once, in one version', async () => {
    const { webhook } = await toSlack();
    const { webhook: changed } = await people.ana.webhooks.update({
      ...{ webhookId: webhook.id, kinds: ['story.created', 'story.deleted'] },
      url: 'https://hooks.slack-gov.com/services/T0/B1/secret-in-it',
    });
    expect(changed).toMatchObject({
      ...{ url: 'https://hooks.slack-gov.com/…', kinds: ['story.created', 'story.deleted'] },
      version: webhook.version + 1,
    });
    expect((await people.ana.webhooks.get({ webhookId: webhook.id })).webhook).toEqual(changed);
  });

  it('has no signing secret to rotate, and gets no audit entries', async () => {
    const { webhook } = await toSlack();
    await expect(people.ana.webhooks.rotateSecret({ webhookId: webhook.id })).rejects.toMatchObject({
      status: 400,
    });
    await expect(toSlack(people.ana, { kinds: ['audit.*'] })).rejects.toMatchObject({ status: 400 });
    await expect(
      people.ana.webhooks.update({ webhookId: webhook.id, kinds: ['audit.denied'] }),
    ).rejects.toMatchObject({ status: 400 });
  });

  it.each([
    'https://169.254.169.254/services/x',
    'https://192.168.0.1/x',
    'https://hooks.slack.com:9000/services/x',
  ])('is not sent to %s', async (address) => {
    await expect(toSlack(people.ana, { url: address })).rejects.toMatchObject({ status: 400 });
  });

  it('is for leads and admins alone', async () => {
    await expect(toSlack(carl, { projectId })).rejects.toMatchObject({ status: 403 });
    expect((await toSlack(lea, { projectId })).webhook.projectId).toBe(projectId);
  });
});
