/** Tests that programs of operators publish and yank releases, each only of its own product, and nothing malformed. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setPlan } from '../src/operators/plans.ts';
import { makeProduct } from '../src/operators/products.ts';
import { setDownloads } from '../src/operators/releases.ts';
import { makeToken, type OperatorScope } from '../src/operators/tokens.ts';
import {
  type HttpAnswer,
  type LicenseWorld,
  noLimits,
  openLicenseWorld,
  type RunningService,
} from './world.ts';

const machine = 'machine-of-ana-0001';
const file = { name: 'app.tar.gz', platform: 'linux-x64', size: 1_234, sha256: 'a'.repeat(64) };

let world: LicenseWorld;
let service: RunningService;
let pipeline: string;
let other: string;
beforeAll(async () => {
  world = await openLicenseWorld();
  await world.asOperator((db) => makeProduct(db, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
  await world.asOperator((db) =>
    setPlan(db, {
      ...{ product: 'default', name: 'pro', term: { kind: 'perpetual' } },
      ...{ transferLimit: 1, machineLimit: 1 },
    }),
  );
  const downloadsUrl = 'https://files.example.com/{file}?expires={expires}&signature={signature}';
  await world.asOperator((db) => setDownloads(db, 'default', { downloadsUrl }));
  service = await world.start({ environment: { ...noLimits, LIMIT_OPERATORS: '100000/1' } });
  pipeline = await token(['read', 'publish']);
  other = await token(['read', 'publish'], 'acme');
});
afterAll(() => world.close());

const token = async (scopes: readonly OperatorScope[], product = 'default') =>
  (await world.asOperator((db) => makeToken(db, { name: 'pipeline', scopes, product }))).secret;
const call = (path: string, body: unknown, secret = pipeline): Promise<HttpAnswer> =>
  service.post(`/api/operators/releases/${path}`, body, { authorization: `Bearer ${secret}` });
const publish = (version: string, more: object = {}, secret = pipeline) =>
  call('publish', { version, artifacts: [file], ...more }, secret);
const versionsOf = async (secret = pipeline) =>
  ((await call('list', {}, secret)).json['items'] as { version: string }[]).map(({ version }) => version);
const statusAndReason = ({ status, json }: HttpAnswer) => [
  status,
  (json['details'] as { reason: string } | undefined)?.reason,
];

describe('a pipeline', () => {
  it('publishes what machines then get, and withdraws it', async () => {
    const { key } = await world.issue({ term: { kind: 'perpetual' } });
    await service.activate(key, machine);
    const latest = async () =>
      (await service.post('/api/releases/latest', { licenseKey: key, machineId: machine })).json['release'];
    expect(await latest()).toBeNull();
    expect((await publish('1.0.0')).json).toMatchObject({
      isRepeated: false,
      release: { version: '1.0.0', channel: 'stable', artifacts: [file], yankedAt: null },
    });
    await publish('1.1.0', { notesUrl: 'https://example.com/notes' });
    expect(await latest()).toMatchObject({
      ...{ version: '1.1.0', notesUrl: 'https://example.com/notes' },
      artifacts: [{ url: expect.stringContaining('https://files.example.com/1.1.0/app.tar.gz?expires=') }],
    });
    const yanked = await call('yank', { version: '1.1.0', reason: 'crashes' });
    expect(yanked.json).toMatchObject({ release: { version: '1.1.0', yankReason: 'crashes' } });
    expect(await latest()).toMatchObject({ version: '1.0.0' });
    const again = await call('yank', { version: '1.1.0', reason: 'other' });
    expect(again.json).toEqual(yanked.json);
    expect((await publish('1.1.0', { notesUrl: 'https://example.com/notes' })).json).toMatchObject({
      ...{ isRepeated: true, release: { yankReason: 'crashes' } },
    });
    expect(await latest()).toMatchObject({ version: '1.0.0' });
  });

  it('that repeats a call publishes once, also at the same time, and changes nothing', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => publish('2.0.0')));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(answers.filter(({ json }) => json['isRepeated'] === false)).toHaveLength(1);
    const { size, sha256, platform, name } = file;
    expect((await publish('2.0.0', { artifacts: [{ sha256, size, platform, name }] })).json).toMatchObject({
      isRepeated: true,
    });
    for (const more of [
      { artifacts: [{ ...file, sha256: 'b'.repeat(64) }] },
      { artifacts: [file, { ...file, name: 'other.zip' }] },
      { channel: 'beta' },
      { notesUrl: 'https://example.com' },
    ])
      expect(statusAndReason(await publish('2.0.0', more))).toEqual([409, 'already_exists']);
    expect(statusAndReason(await publish('2.0.0+other'))).toEqual([409, 'already_exists']);
    expect((await versionsOf()).filter((version) => version.startsWith('2.0.0'))).toEqual(['2.0.0']);
  });

  it('lists releases in pages', async () => {
    for (const patch of [1, 2, 3]) await publish(`7.0.${patch}`);
    const page = async (after?: string) => (await call('list', { limit: 2, after })).json;
    const first = await page();
    expect(first).toMatchObject({ items: [{ version: '7.0.3' }, { version: '7.0.2' }], nextAfter: '7.0.2' });
    expect(await page('7.0.2')).toMatchObject({ items: [{ version: '7.0.1' }, {}] });
    expect(await page('99.0.0')).toEqual({ items: [], nextAfter: null });
  });
});

describe('a token', () => {
  it('publishes and withdraws only releases of its product', async () => {
    await publish('3.0.0');
    expect(statusAndReason(await call('yank', { version: '3.0.0' }, other))[0]).toBe(404);
    expect(await versionsOf(other)).toEqual([]);
    expect((await publish('3.0.0', { artifacts: [{ ...file, name: 'acme.zip' }] }, other)).status).toBe(200);
    expect((await call('yank', { version: '3.0.0' }, other)).status).toBe(200);
    const { json } = await call('list', {});
    expect(json['items']).toContainEqual(expect.objectContaining({ version: '3.0.0', yankedAt: null }));
    expect((await publish('3.1.0', { product: 'acme' })).status).toBe(400);
  });

  it('needs the scope publish', async () => {
    const others = await token(['read', 'issue', 'change', 'webhooks']);
    for (const answer of [
      await publish('4.0.0', {}, others),
      await call('yank', { version: '1.0.0' }, others),
    ])
      expect(statusAndReason(answer)).toEqual([403, 'scope']);
    expect(statusAndReason(await call('list', {}, await token(['publish'])))).toEqual([403, 'scope']);
    expect((await publish('4.0.0', {}, 'mlt_wrong')).status).toBe(401);
    expect(await versionsOf()).not.toContain('4.0.0');
  });
});

describe('what does not fit', () => {
  it.each([
    ...['1.0', 'v5.0.0', ' 5.0.0', '5.0.0\n', '5.0.0-01', '5.0.0/..', '٥.0.0', '5.0.0\u0000', ''].map(
      (version) => [version, {}] as const,
    ),
    ...[`5.0.0-${'a'.repeat(95)}`, '2147483648.0.0', '5.0.0-rc.1'].map((version) => [version, {}] as const),
    ['5.0.0', { channel: 'nightly' }],
    ['5.0.0', { artifacts: [] }],
    ['5.0.0', { artifacts: Array.from({ length: 33 }, (_, index) => ({ ...file, name: `${index}` })) }],
    ['5.0.0', { artifacts: [file, file] }],
    ...['', '.', '..', '../app.zip', 'a/b', 'a\\b', '%2e%2e', 'a b', 'ä.zip', 'a\u0000', 'a'.repeat(101)].map(
      (name) => ['5.0.0', { artifacts: [{ ...file, name }] }] as const,
    ),
    ...['', 'Linux', 'linux x64', 'a'.repeat(33)].map(
      (platform) => ['5.0.0', { artifacts: [{ ...file, platform }] }] as const,
    ),
    ...[-1, 1.5, 2 ** 53, '1', null].map((size) => ['5.0.0', { artifacts: [{ ...file, size }] }] as const),
    ...['A'.repeat(64), 'a'.repeat(63), 'g'.repeat(64), `${'a'.repeat(64)}\n`].map(
      (sha256) => ['5.0.0', { artifacts: [{ ...file, sha256 }] }] as const,
    ),
    ['5.0.0', { artifacts: [{ ...file, url: 'https://evil.example.com' }] }],
    ...[
      'javascript:alert(1)',
      'file:///etc/passwd',
      'example.com',
      `https://example.com/${'a'.repeat(1_100)}`,
    ].map((notesUrl) => ['5.0.0', { notesUrl }] as const),
    ['5.0.0', { publishedAt: '2020-01-01T00:00:00Z' }],
  ])('is refused with 400: %j %j', async (version, more) => {
    expect((await publish(version, more)).status).toBe(400);
    expect(await versionsOf()).not.toContain('5.0.0');
  });

  it.each([
    [{ version: '1.0.0', reason: '' }],
    [{ version: '1.0.0', reason: 'a'.repeat(513) }],
    [{ version: '1.0.0', reason: 'a\u0000' }],
    [{ version: '1.0.0', force: true }],
    [{}],
  ])('withdraws nothing: %j', async (params) => {
    expect((await call('yank', params)).status).toBe(400);
    const { json } = await call('list', { limit: 200 });
    expect(json['items']).toContainEqual(expect.objectContaining({ version: '1.0.0', yankedAt: null }));
  });

  it('holds the largest release', async () => {
    const artifacts = Array.from({ length: 32 }, (_, index) => ({
      ...{ ...file, name: `${index}`.padEnd(100, '+'), platform: 'a'.repeat(32), size: 2 ** 53 - 1 },
    }));
    expect((await publish('6.0.0', { artifacts })).status).toBe(200);
  });
});
