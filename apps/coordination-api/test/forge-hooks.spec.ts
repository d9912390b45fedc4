/**
 * Deliveries from forges over HTTP: accepted and refused ones. The response is sent before the delivery is
 * parsed.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { processDelivery } from '@muster/forges';
import { type AllHandlers, handlers, performableHandlers, reactions } from '@muster/operations';
import { inOrganizationAsSystem } from '@muster/tenancy';
import { type People } from '@muster/testing';
import { recordedDeliveries } from '@muster/testing/github';
import { useApi } from './api.ts';

const secretsKey = 'k'.repeat(32);
const api = useApi({ SECRETS_KEY: secretsKey, LIMIT_UNKNOWN_TOKENS: '1000/0.01' });

let people: People<AllHandlers>;
/** A client over HTTP, because the API encrypts with its own key. */
let ana: Client;
let path: string;
let secret: string;
let connectionId: string;

const hmac = (key: string, text: string): string =>
  `sha256=${createHmac('sha256', key).update(text).digest('hex')}`;
const ping = '{"zen": "Größe ✓"}';

beforeEach(async () => {
  people = await api.org();
  ana = api.client(people.ana.me.token);
  const { connection, setup } = await ana.forges.connect({
    kind: 'github',
    credentials: { token: 'ghp_1' },
  });
  connectionId = connection.id;
  ({ secret } = setup);
  path = new URL(setup.webhookUrl).pathname;
});

/** Sends a delivery as GitHub does. */
const deliver = (
  body: string,
  {
    signature = hmac(secret, body),
    id = randomUUID().slice(0),
    event = 'ping',
    to = path,
    type = 'application/json',
  } = {},
) =>
  api.request(to, {
    ...{ method: 'POST', token: null, body },
    headers: {
      'content-type': type,
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': signature,
    },
  });
const listStoredDeliveries = async () => (await people.ana.forges.deliveries.list({ connectionId })).items;

describe('a delivery', () => {
  it('that is signed is accepted, kept, and asked to be read', async () => {
    const answer = await deliver(ping, { id: 'one' });
    expect([answer.status, answer.body]).toEqual([202, { accepted: true, repeated: false }]);
    expect(await listStoredDeliveries()).toMatchObject([
      { deliveryId: 'one', event: 'ping', trust: 'verified', state: 'received' },
    ]);
    const jobs = await api.world.rows(
      `select id from outbox where org_id = $1 and topic = 'forge.translate'`,
      people.orgId,
    );
    expect(jobs).toHaveLength(1);
    expect((await people.ana.forges.get({ connectionId })).connection.lastDeliveryAt).not.toBeNull();
  });

  it('that comes again is accepted, and changes nothing', async () => {
    await deliver(ping, { id: 'one' });
    expect((await deliver(ping, { id: 'one' })).body).toEqual({ accepted: true, repeated: true });
    expect(await listStoredDeliveries()).toHaveLength(1);
    const jobs = await api.world.rows(
      `select id from outbox where org_id = $1 and topic = 'forge.translate'`,
      people.orgId,
    );
    expect(jobs).toHaveLength(1);
  });

  it('that comes many times at once is kept once', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => deliver(ping, { id: 'one' })));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202));
    expect(answers.filter(({ body }) => body['repeated'] === false)).toHaveLength(1);
  });

  it('that is not signed, or signed by another, is 401 and not kept', async () => {
    for (const signature of ['', 'sha256=00', hmac('another', ping), hmac(secret, `${ping} `)]) {
      const answer = await deliver(ping, { signature });
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
      // GitHub shows this message to the admin who mistyped the secret.
      expect(answer.body).toMatchObject({
        message: 'The delivery is not signed with the webhook secret of this connection.',
        details: { reason: 'delivery_signature' },
      });
    }
    expect(await listStoredDeliveries()).toEqual([]);
  });

  it('to a connection that there is not is 404, whatever its name', async () => {
    for (const to of [
      `/hooks/forges/${randomUUID()}`,
      '/hooks/forges/x',
      '/hooks/forges/%00',
      '/hooks/forges/',
    ]) {
      const { status, body } = await deliver(ping, { to });
      expect([status, body.code]).toEqual([404, 'not_found']);
    }
  });

  it('of more than 5 MiB is 413, and one that is nearly as large is taken', async () => {
    const large = (bytes: number): string => `{"text": "${'x'.repeat(bytes - 12)}"}`;
    expect((await deliver(large(5 * 1024 * 1024 + 1))).status).toBe(413);
    expect((await deliver(large(5 * 1024 * 1024))).status).toBe(202);
  });

  it('that is not valid JSON is 400, and one of another type 415', async () => {
    for (const body of ['{', 'payload=%7B%7D', '\u{feff}{}'])
      expect((await deliver(body)).body).toMatchObject({ status: 400, code: 'bad_request' });
    const form = await deliver('payload=%7B%7D', { type: 'application/x-www-form-urlencoded' });
    expect([form.status, form.body.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('that nests too deep or has too many values is 400, and nothing is kept', async () => {
    for (const body of [
      '['.repeat(5_000_000),
      `${'['.repeat(65)}${']'.repeat(65)}`,
      `[${'0,'.repeat(200_000)}0]`,
    ]) {
      const { status, body: refused } = await deliver(body);
      expect([status, refused.details?.reason]).toEqual([400, 'invalid_json']);
    }
    expect(await listStoredDeliveries()).toEqual([]);
  });

  it('without an id or an event is 400, and says which headers there are', async () => {
    for (const [event, id] of [
      ['', 'one'],
      ['ping', ''],
    ] as const) {
      const { status, body } = await deliver(ping, { event, id });
      expect([status, body.message]).toEqual([400, expect.stringContaining('x-github-delivery')]);
    }
  });

  it('beyond the limit of its connection is 429, and those of other connections are taken', async () => {
    const copy = await api.startReplica({ SECRETS_KEY: secretsKey, LIMIT_DELIVERIES: '3/60' });
    const send = (to: string, key: string) =>
      copy.request(to, {
        ...{ method: 'POST', token: null, body: ping },
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'ping',
          'x-github-delivery': randomUUID(),
          'x-hub-signature-256': hmac(key, ping),
        },
      });
    // Forged deliveries do not count against the connection's limit.
    for (let index = 0; index < 5; index += 1) expect((await send(path, 'another')).status).toBe(401);
    for (let index = 0; index < 3; index += 1) expect((await send(path, secret)).status).toBe(202);
    const refused = await send(path, secret);
    expect([refused.status, refused.body.details?.reason]).toEqual([429, 'delivery_limit']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { setup } = await ana.forges.connect({ kind: 'github' });
    expect((await send(new URL(setup.webhookUrl).pathname, setup.secret)).status).toBe(202);
  });
});

describe('the secrets of a connection', () => {
  it('are in no answer but the one that made them, and not to be read in the database', async () => {
    const { connection } = await people.ana.forges.get({ connectionId });
    const { items } = await people.ana.forges.list({});
    const audit = await people.ana.audit.list({});
    for (const answer of [connection, items, audit]) {
      expect(JSON.stringify(answer)).not.toContain(secret);
      expect(JSON.stringify(answer)).not.toContain('ghp_1');
    }
    expect(connection.credentialsKind).toBe('token');
    const [row] = await api.world.rows<{ text: string }>(
      `select encode(secret, 'escape') || encode(credentials, 'escape') as text from forge_connections where id = $1`,
      connectionId,
    );
    expect(row?.text).not.toContain(secret);
    expect(row?.text).not.toContain('ghp_1');
  });

  it('are answered again to a repeated Idempotency-Key, without having been kept', async () => {
    const connect = () =>
      api.call(people.ana.me.token, 'forges.connect', { kind: 'gitlab' }, { 'idempotency-key': 'c' });
    const [first, again] = [await connect(), await connect()];
    expect(again.body).toEqual(first.body);
    const setup = first.body['setup'] as { secret: string };
    expect(setup.secret).toMatch(/^whsec_/);
    const [stored] = await api.world.rows<{ text: string }>(
      `select string_agg(k::text, '') as text from idempotency_keys k where org_id = $1`,
      people.orgId,
    );
    expect(stored?.text).not.toContain(setup.secret);
  });

  it('are others after a rotation, and the old ones are good for nothing', async () => {
    const { setup } = await ana.forges.update({ connectionId, rotateSecret: true });
    expect((await deliver(ping)).status).toBe(401);
    expect((await deliver(ping, { signature: hmac(setup?.secret ?? '', ping) })).status).toBe(202);
  });

  it('open for no process that does not know the key that sealed them', async () => {
    const copy = await api.startReplica({ SECRETS_KEY: 'z'.repeat(32) });
    const answer = await copy.request(path, {
      ...{ method: 'POST', token: null, body: ping },
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'ping',
        'x-github-delivery': 'one',
        'x-hub-signature-256': hmac(secret, ping),
      },
    });
    expect(answer.status).toBe(401);
  });
});

describe('who may', () => {
  it('connect a forge is an admin, in person', async () => {
    const agent = await api.world.token(people.orgId, people.ana.me.memberId, {
      scopes: ['admin'],
      agent: 'Robo',
    });
    await expect(agent.forges.connect({ kind: 'github' })).rejects.toMatchObject({
      reason: 'agents_may_not',
    });
    await expect(people.chloe.forges.connect({ kind: 'github' })).rejects.toMatchObject({ status: 403 });
    const refused = await people.ana.audit.list({ operation: 'forges.connect', outcome: 'denied' });
    expect(refused.items.map(({ reason }) => reason).sort()).toEqual(['agents_may_not', 'role']);
  });

  it('link a repository is a lead of the project', async () => {
    await people.ana.projects.create({ key: 'WEB', name: 'Web' });
    const link = { projectId: 'WEB', connectionId, url: 'https://github.com/acme/api' };
    await expect(people.chloe.forges.repositories.link(link)).rejects.toMatchObject({ status: 403 });
    const first = await people.ana.forges.repositories.link(link);
    expect(
      await people.ana.forges.repositories.link({ ...link, url: 'https://github.com/Acme/API.git' }),
    ).toEqual(first);
    expect(await people.ana.forges.repositories.unlink(link)).toEqual({ deleted: true });
    await expect(people.ana.forges.repositories.unlink(link)).rejects.toMatchObject({ status: 404 });
    await expect(
      people.ana.forges.repositories.link({ ...link, connectionId: randomUUID() }),
    ).rejects.toMatchObject({ status: 404 });
  });
});

describe('deliveries that cannot be read', () => {
  const recorded = recordedDeliveries.find(({ key }) => key === 'pull_request opened')?.payload as {
    pull_request: Record<string, unknown>;
  };
  /** A delivery with a time in an undocumented format. */
  const broken = { ...recorded, pull_request: { ...recorded.pull_request, created_at: 'yesterday' } };

  async function send(payload: unknown, event = 'pull_request', id = randomUUID().slice(0)): Promise<void> {
    expect((await deliver(JSON.stringify(payload), { event, id })).status).toBe(202);
    const delivery = (await listStoredDeliveries()).find(({ deliveryId }) => deliveryId === id);
    const environment = { handlers: performableHandlers(handlers), reactions };
    await inOrganizationAsSystem(api.world.database.app, people.orgId, (db) =>
      processDelivery({ db, orgId: people.orgId, environment }, delivery?.id ?? ''),
    );
  }
  const health = async () => {
    const { state, lastError } = (await ana.forges.get({ connectionId })).connection;
    expect((await ana.forges.list({})).items).toMatchObject([{ state, lastError }]);
    return [state, lastError];
  };
  const told = async (who = ana) => (await who.notifications.list({ kinds: ['forge_failing'] })).items;
  const failing = [
    'failing',
    {
      doing: 'receive',
      at: expect.any(String),
      message: expect.stringMatching(/event pull_request failed: .*created_at is not a valid time/),
    },
  ];

  it('make the connection say so, until one is read, and notify each admin once', async () => {
    expect(await health()).toEqual(['active', null]);
    await send(broken);
    await send(broken);
    expect(await health()).toEqual(failing);
    expect(await told()).toMatchObject([
      {
        title: 'Muster cannot read the webhook deliveries of GitHub',
        subject: { type: 'forge', id: connectionId },
      },
    ]);
    expect(await told(api.client(people.chloe.me.token))).toEqual([]);

    // An ignored delivery does not prove that deliveries of other events can be parsed, so the connection
    // stays failing.
    await send({ zen: 'Keep it simple' }, 'ping');
    expect(await health()).toEqual(failing);
    await send(recorded);
    expect(await health()).toEqual(['active', null]);
  });

  it('are read again when the forge delivers them again, by the same id', async () => {
    await send(broken, 'pull_request', 'one');
    await send(recorded, 'pull_request', 'one');
    expect(await listStoredDeliveries()).toMatchObject([{ deliveryId: 'one', state: 'ignored' }]);
    expect(await health()).toEqual(['active', null]);
  });

  it('notify again in the next period, unless the last notification is still unread', async () => {
    const period = async (): Promise<void> => {
      await send(broken);
      await send(recorded);
    };
    await period();
    await period();
    expect(await told()).toHaveLength(1);
    await ana.notifications.markAllRead({});
    await period();
    expect(await told()).toHaveLength(2);
  });
});
