/** Tests the operators' API: a shop issues licenses, support changes them, and each sees only its own product. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '@muster/driver';
import { setPlan } from '../src/operators/plans.ts';
import { makeProduct } from '../src/operators/products.ts';
import { makeToken, type NewOperatorToken, revokeToken } from '../src/operators/tokens.ts';
import {
  type HttpAnswer,
  type LicenseWorld,
  noLimits,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

const machine = 'machine-of-ana-0001';
const anyId = '01980000-0000-7000-8000-000000000001';

let world: LicenseWorld;
let service: RunningService;
let allScopesToken: string;
beforeAll(async () => {
  world = await openLicenseWorld();
  const terms = { term: { kind: 'for', seconds: 86_400 }, transferLimit: 1, machineLimit: 2 } as const;
  await world.asOperator((ask) => makeProduct(ask, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
  for (const product of ['default', 'acme'])
    await world.asOperator((ask) => setPlan(ask, { ...terms, product, name: 'pro' }));
  service = await world.start({ environment: { ...noLimits, LIMIT_OPERATORS: '100000/1' } });
  allScopesToken = await createTokenSecret({});
});
afterAll(() => world.close());

const createTokenSecret = async (wanted: Partial<NewOperatorToken>): Promise<string> => {
  const usual = { name: 'spec', scopes: ['read', 'issue', 'change', 'webhooks'] } as const;
  return (await world.asOperator((ask) => makeToken(ask, { ...usual, ...wanted }))).secret;
};

const call = (path: string, body: unknown, secret = allScopesToken): Promise<HttpAnswer> =>
  service.post(`/api/operators/${path}`, body, { authorization: `Bearer ${secret}` });

interface License {
  readonly id: string;
  readonly state: string;
  readonly keyEnding: string;
  readonly machinesUsed: number;
  readonly expiresAt: string | null;
  readonly transfers: number;
}
const licenseIn = ({ json }: HttpAnswer): License => json['license'] as License;
const itemsIn = ({ json }: HttpAnswer): License[] => json['items'] as License[];
const reasonOf = ({ status, json }: HttpAnswer) => [status, (json['details'] as { reason: string }).reason];

let orderCount = 0;
const issue = async (more: object = {}, secret = allScopesToken) => {
  orderCount += 1;
  const { status, json } = await call(
    'licenses/issue',
    { plan: 'pro', orderRef: `order-${orderCount}`, ...more },
    secret,
  );
  expect(status).toBe(200);
  const [one] = json['licenses'] as { id: string; key: string; keyEnding: string }[];
  if (one === undefined) throw new Error('nothing was issued');
  return { ...one, orderRef: `order-${orderCount}` };
};

describe('a shop', () => {
  it('issues by one call, and the same order again issues nothing', async () => {
    const asked = { plan: 'pro', orderRef: 'A-1', customerRef: 'c-1', count: 2, features: { export: true } };
    const first = await call('licenses/issue', asked);
    expect(first.json).toMatchObject({ plan: 'pro', isRepeated: false });
    const [one, two] = first.json['licenses'] as { id: string; key: string }[];
    expect((await service.activate(one?.key ?? '', machine)).status).toBe(200);
    const again = await call('licenses/issue', asked);
    expect(again.json).toMatchObject({
      isRepeated: true,
      licenses: [
        { id: one?.id, key: null },
        { id: two?.id, key: null },
      ],
    });
    expect(reasonOf(await call('licenses/issue', { ...asked, count: 1 }))).toEqual([409, 'order_mismatch']);
  });

  it('whose answer was lost gets new keys for what no machine has activated', async () => {
    const asked = { plan: 'pro', orderRef: 'A-2', count: 2 };
    const [one, two] = (await call('licenses/issue', asked)).json['licenses'] as { key: string }[];
    await service.activate(one?.key ?? '', machine);
    const { json } = await call('licenses/issue', { ...asked, rekey: true });
    const [activated, fresh] = json['licenses'] as { key: string | null }[];
    expect(activated?.key).toBeNull();
    expect((await service.activate(fresh?.key ?? '', machine)).status).toBe(200);
    expect((await service.activate(two?.key ?? '', machine)).status).toBe(404);
  });

  it('gets no new key for a license that a machine activates at that moment', async () => {
    const asked = { plan: 'pro', orderRef: 'A-4' };
    const [one] = (await call('licenses/issue', asked)).json['licenses'] as { key: string }[];
    const other = await world.owner.connect();
    try {
      await other.query('begin');
      await other.query(`update licenses.licenses set activated_at = now() where order_ref = 'A-4'`);
      const again = call('licenses/issue', { ...asked, rekey: true });
      await waitUntil(async () => {
        const waiting = await world.rows(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      });
      await other.query('commit');
      expect((await again).json).toMatchObject({ licenses: [{ key: null }] });
    } finally {
      other.release(true);
    }
    expect((await service.activate(one?.key ?? '', machine)).status).toBe(200);
  });

  it('that asks many times at once issues once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call('licenses/issue', { plan: 'pro', orderRef: 'A-3' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(answers.filter(({ json }) => json['isRepeated'] === false)).toHaveLength(1);
    expect(await world.rows(`select from licenses.licenses where order_ref = 'A-3'`)).toHaveLength(1);
  });

  it('renews once for each order', async () => {
    const { id, key } = await issue();
    await service.activate(key, machine);
    const ends = async (path: string, more: object): Promise<string | null> =>
      licenseIn(await call(path, { id, ...more })).expiresAt;
    const first = await ends('licenses/extend', { for: '30d', orderRef: 'R-1' });
    expect(await ends('licenses/extend', { for: '30d', orderRef: 'R-1' })).toBe(first);
    const second = await ends('licenses/extend', { for: '30d', orderRef: 'R-2' });
    expect(Date.parse(second ?? '') - Date.parse(first ?? '')).toBe(30 * 86_400_000);
    expect(await ends('licenses/renew', { term: { expires: '2031-01-01' }, orderRef: 'R-3' })).toBe(
      '2031-01-01T00:00:00.000Z',
    );
  });

  it('renews for no longer than a hundred years: an end of five digits is a time to no program', async () => {
    const { id, key } = await issue({ term: { for: '100y' } });
    expect((await call('licenses/extend', { id, for: '1d' })).json['message']).toMatch(/more than a hundred/);
    const { license } = (await service.activate(key, machine)).json as { license: { expiresAt: string } };
    expect(new Date(license.expiresAt).toISOString()).toBe(license.expiresAt);
    expect((await call('licenses/extend', { id, for: '1y' })).status).toBe(200);
    expect((await call('licenses/extend', { id, for: '99y' })).status).toBe(400);
  });

  it('is told what does not fit, and nothing is a fault', async () => {
    const cases: [path: string, body: unknown][] = [
      ['licenses/issue', {}],
      ['licenses/issue', { plan: 'unheard', orderRef: 'x' }],
      ['licenses/issue', { plan: 'pro', orderRef: 'x', customerRef: 'ana@example.com' }],
      ['licenses/issue', { plan: 'pro', orderRef: 'x\u0000' }],
      ['licenses/issue', { plan: 'pro', orderRef: 'x', term: { expires: '2001-01-01' } }],
      ['licenses/issue', { plan: 'pro', orderRef: 'x', count: 1_000 }],
      ['licenses/issue', { plan: 'pro', orderRef: 'x', term: { for: '999999y' } }],
      ['licenses/issue', []],
      ['licenses/renew', { id: anyId, term: { for: 'soon' } }],
      ['licenses/find', {}],
      ['licenses/find', { orderRef: 'a', keyEnding: 'ABCD' }],
      ['webhooks/create', { url: 'http://example.com' }],
      ['webhooks/create', { url: 'https://10.0.0.1/hook' }],
      ['webhooks/create', { url: 'nowhere' }],
    ];
    for (const [path, body] of cases)
      expect([path, body, (await call(path, body)).status]).toEqual([path, body, 400]);
  });
});

describe('support', () => {
  it('finds a license by the order and by the end of the key, and sees its machines and what happened', async () => {
    const { id, key, orderRef, keyEnding } = await issue({ customerRef: 'c-9' });
    await service.activate(key, machine);
    await service.activate(key, 'machine-of-ana-0002');
    await service.activate(key, 'machine-of-ben-0003');
    for (const by of [{ orderRef }, { customerRef: 'c-9' }, { keyEnding: keyEnding.toLowerCase() }]) {
      expect(itemsIn(await call('licenses/find', by)).map((one) => one.id)).toContain(id);
    }
    expect((await call('licenses/get', { id })).json).toMatchObject({
      license: { id, state: 'active', machinesUsed: 2, machineLimit: 2 },
      machines: [
        { slot: 1, hint: '…0001' },
        { slot: 2, hint: '…0002' },
      ],
    });
    expect((await call('licenses/history', { id })).json).toMatchObject({
      events: [
        { kind: 'activated', actor: 'machine' },
        { kind: 'activated' },
        { kind: 'issued', actorRef: 'token spec' },
      ],
      denials: [{ outcome: 'other_machine', count: 1 }],
    });
  });

  it('suspends, resumes, releases, transfers and revokes; the next question of a machine says so', async () => {
    const { id, key } = await issue({ machineLimit: 1 });
    const state = async (path: string, more: object = {}) =>
      licenseIn(await call(path, { id, ...more })).state;
    await service.activate(key, machine);
    expect(await state('licenses/suspend', { reason: 'charged back' })).toBe('suspended');
    expect((await service.activate(key, machine)).status).toBe(403);
    expect(await state('licenses/resume')).toBe('active');
    expect((await service.check(key, machine)).json).toMatchObject({ valid: true });
    const moved = licenseIn(await call('licenses/transfer', { id, machineId: 'machine-of-ana-0002' }));
    expect(moved).toMatchObject({ transfers: 1, machinesUsed: 1 });
    expect((await service.activate(key, machine)).status).toBe(409);
    const refused = await call('licenses/transfer', { id, machineId: machine });
    expect(reasonOf(refused)).toEqual([403, 'transfers_exhausted']);
    expect(await state('licenses/release')).toBe('unactivated');
    expect((await service.activate(key, machine)).status).toBe(200);
    expect(await state('licenses/revoke')).toBe('revoked');
    expect(reasonOf(await call('licenses/extend', { id, for: '1d' }))).toEqual([403, 'license_revoked']);
  });

  it('says which machine where several hold a license', async () => {
    const { id, key } = await issue();
    for (const one of [machine, 'machine-of-ana-0002']) await service.activate(key, one);
    expect(reasonOf(await call('licenses/release', { id }))).toEqual([409, 'several_machines']);
    expect(licenseIn(await call('licenses/release', { id, slot: 2 })).machinesUsed).toBe(1);
    expect((await call('licenses/release', { id, slot: 2 })).status).toBe(404);
  });

  it('goes through pages of what there is', async () => {
    for (let count = 0; count < 3; count += 1) await issue({ customerRef: 'pages' });
    const first = await call('licenses/list', { customerRef: 'pages', limit: 2 });
    const after = first.json['nextAfter'];
    const second = await call('licenses/list', { customerRef: 'pages', limit: 2, after });
    expect([itemsIn(first).length, itemsIn(second).length, second.json['nextAfter']]).toEqual([2, 1, null]);
  });
});

describe('a token', () => {
  it('is asked for, and counts until it is taken back or has ended', async () => {
    const without = await service.post('/api/operators/licenses/list', {});
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    for (const secret of ['mlt_x', `mlt_${'A'.repeat(43)}`])
      expect(reasonOf(await call('licenses/list', {}, secret))).toEqual([401, 'unauthorized']);
    const { token: made, secret } = await world.asOperator((ask) =>
      makeToken(ask, { name: 'short', scopes: ['read'] }),
    );
    expect((await call('licenses/list', {}, secret)).status).toBe(200);
    await world.asOperator((ask) => revokeToken(ask, made.id));
    expect((await call('licenses/list', {}, secret)).status).toBe(401);
    const ended = await createTokenSecret({ seconds: 3_600 });
    expect((await call('licenses/list', {}, ended)).status).toBe(200);
    await world.rows(`update licenses.operator_tokens set expires_at = now() where expires_at is not null`);
    expect((await call('licenses/list', {}, ended)).status).toBe(401);
  });

  it('never lets two calls wait for each other to note when it was used', async () => {
    const { token: made, secret } = await world.asOperator((ask) =>
      makeToken(ask, { name: 'shared', scopes: ['read'] }),
    );
    // Simulates a call that has noted the token's use but has not committed yet.
    const waiting = await world.asOperator(async (db) => {
      await db.all(
        sql`update licenses.operator_tokens set last_used_at = clock_timestamp() where id = ${made.id}`,
      );
      let status = 0;
      const answered = call('licenses/list', {}, secret).then((answer) => ({ status } = answer));
      let stood = 0;
      await waitUntil(async () => {
        stood = (await world.rows('select from pg_locks where not granted')).length;
        return status > 0 || stood > 0;
      });
      void answered;
      return { stood, status };
    });
    expect(waiting).toEqual({ stood: 0, status: 200 });
  });

  it('may do what its scopes say', async () => {
    const secrets = {
      read: await createTokenSecret({ scopes: ['read'] }),
      issue: await createTokenSecret({ scopes: ['issue'] }),
      change: await createTokenSecret({ scopes: ['change'] }),
      webhooks: await createTokenSecret({ scopes: ['webhooks'] }),
    };
    const needs: [path: string, body: object, scope: keyof typeof secrets][] = [
      ['licenses/list', {}, 'read'],
      ['licenses/issue', { plan: 'pro', orderRef: 'scopes' }, 'issue'],
      ['licenses/suspend', { id: anyId }, 'change'],
      ['webhooks/list', {}, 'webhooks'],
    ];
    for (const [path, body, scope] of needs) {
      for (const [held, secret] of Object.entries(secrets)) {
        const { status } = await call(path, body, secret);
        expect([path, held, status === 403]).toEqual([path, held, held !== scope]);
      }
    }
    expect((await call('licenses/list', {}, secrets.issue)).json).toMatchObject({
      details: { reason: 'scope', needed: 'read', held: ['issue'] },
    });
  });

  it('reaches its own product alone', async () => {
    const acme = await createTokenSecret({ product: 'acme' });
    const [own, other] = [await issue({}, acme), await issue()];
    expect(own.key).toMatch(/^ACME1-/);
    for (const path of ['licenses/get', 'licenses/history', 'licenses/suspend', 'licenses/revoke'])
      expect([path, (await call(path, { id: other.id }, acme)).status]).toEqual([path, 404]);
    expect((await service.activate(other.key, machine)).status).toBe(200);
    expect(itemsIn(await call('licenses/find', { orderRef: other.orderRef }, acme))).toEqual([]);
    expect(itemsIn(await call('licenses/list', {}, acme)).map(({ id }) => id)).toEqual([own.id]);
  });

  it('is limited', async () => {
    const limited = await world.start({ environment: { ...noLimits, LIMIT_OPERATORS: '3/3600' } });
    const secret = await createTokenSecret({ scopes: ['read'] });
    const ask = () => limited.post('/api/operators/licenses/list', {}, { authorization: `Bearer ${secret}` });
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await ask()).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect(Number((await ask()).headers.get('retry-after'))).toBeGreaterThan(0);
    await limited.stop();
  });

  it('is nowhere in the database', async () => {
    const secret = await createTokenSecret({});
    const rows = await world.rows<{ text: string }>('select t::text as text from licenses.operator_tokens t');
    expect(rows.some(({ text }) => text.includes(secret) || text.includes(secret.slice(4)))).toBe(false);
  });
});

describe('the document', () => {
  it('has every operation, with what it takes and answers', async () => {
    const { json } = await service.call('/api/operators/openapi.json');
    const paths = json['paths'] as Record<string, { post: { operationId: string } }>;
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(
        ['issue', 'list', 'find', 'suspend', 'revoke', 'renew', 'transfer', 'extend'].map(
          (name) => `/api/operators/licenses/${name}`,
        ),
      ),
    );
    for (const [path, { post }] of Object.entries(paths)) {
      expect(path).toBe(`/api/operators/${post.operationId.replace('.', '/')}`);
      expect((await service.post(path, {})).status).toBe(401);
    }
  });
});

it('is done as a role that may neither delete what was sold nor change what happened', async () => {
  for (const statement of [
    'delete from licenses.licenses',
    'update licenses.license_events set actor_ref = null',
    'insert into licenses.plans (name, transfer_limit) values ($$x$$, 1)',
    `insert into licenses.operator_tokens (id, product, name, secret_hash, scopes)
     values (gen_random_uuid(), 'default', 'x', sha256('x'), array['read'])`,
    'select * from licenses.secrets',
  ]) {
    const asRole = world.owner.query(`begin; set local role muster_license_operators; ${statement}; commit`);
    await expect(asRole).rejects.toThrow(/permission denied/);
    await world.owner.query('rollback');
  }
});
