/** Tests releases: which of them a license may download, signed addresses, yanking, and the customer's page. */
import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../src/command-line.ts';
import { publishRelease, setDownloads, setLicenseUpdates } from '../src/operators/releases.ts';
import { makeProduct } from '../src/operators/products.ts';
import { createCustomerLink } from '../src/pages/links.ts';
import { type UpdatePolicy } from '../src/releases/records.ts';
import { type InstalledClient, type Machines, openMachines } from './machines.ts';
import { dropAnswer } from './middle.ts';
import { type HttpAnswer, noLimits, type RunningService } from './world.ts';

const machine = 'machine-with-updates-0001';
const template = 'https://files.example.com/{file}?expires={expires}&signature={signature}';
const linux = { name: 'app-linux.tar.gz', platform: 'linux-x64', size: 1_234_567, sha256: 'a'.repeat(64) };
const mac = { name: 'app-mac.zip', platform: 'darwin-arm64', size: 42, sha256: 'b'.repeat(64) };

let machines: Machines;
let service: RunningService;
let folder: string;
beforeAll(async () => {
  machines = await openMachines();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-releases-'));
  const { world } = machines;
  service = await world.start({ environment: { ...noLimits, LIMIT_OPERATORS: '100000/1' } });
  await world.asOperator((db) => makeProduct(db, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
  await world.asOperator((db) => setDownloads(db, 'default', { downloadsUrl: template }));
  for (const [version, channel, artifacts, days] of [
    ['1.0.0', 'stable', [linux, mac], 400],
    ['1.9.0', 'stable', [linux], 300],
    ['1.10.0', 'stable', [linux, mac], 200],
    ['2.0.0-beta.2', 'beta', [linux], 150],
    ['2.0.0-beta.10', 'beta', [linux], 140],
    ['2.0.0', 'stable', [linux], 100],
    ['3.0.0-beta.1', 'beta', [linux], 10],
  ] as const) {
    await world.asOperator((db) =>
      publishRelease(db, { product: 'default', version, channel, notesUrl: null, artifacts }),
    );
    await world.rows(
      `update licenses.releases set published_at = now() - make_interval(days => $2) where version = $1`,
      version,
      days,
    );
  }
  await world.asOperator((db) =>
    publishRelease(db, {
      product: 'acme',
      version: '9.0.0',
      channel: 'stable',
      notesUrl: null,
      artifacts: [linux],
    }),
  );
  await machines.refresh();
  await service.refreshKeys();
});
afterAll(async () => {
  await machines.close();
  await rm(folder, { recursive: true });
});

/** Issues a license that was activated 250 days ago. */
async function sellLicense(updates: UpdatePolicy | null = null): Promise<{ id: string; key: string }> {
  const { world } = machines;
  const license = await world.issue({ term: { kind: 'perpetual' } });
  expect((await service.activate(license.key, machine)).status).toBe(200);
  await world.rows(
    `update licenses.licenses set activated_at = now() - interval '250 days' where id = $1`,
    license.id,
  );
  await world.asOperator((db) => setLicenseUpdates(db, license, updates));
  return license;
}
const requestLatest = (licenseKey: string, more: object = {}, machineId = machine): Promise<HttpAnswer> =>
  service.post('/api/releases/latest', { licenseKey, machineId, ...more });
interface Found {
  readonly version: string;
  readonly artifacts: readonly { name: string; url: string | null }[];
  readonly urlsExpireAt: string;
}
const releaseIn = ({ json }: HttpAnswer): Found | null => json['release'] as Found | null;
const versionOf = async (licenseKey: string, more: object = {}) =>
  releaseIn(await requestLatest(licenseKey, more))?.version;
const reasonOf = ({ status, json }: HttpAnswer) => [
  status,
  (json['details'] as { reason?: string } | undefined)?.reason,
];
async function run(args: readonly string[], input: readonly string[] = []) {
  const said = { out: '', err: '' };
  const code = await runCommandLine(args, {
    environment: { DATABASE_URL: machines.world.url },
    readLines: async () => input,
    writeStdout: (words) => void (said.out += words),
    writeStderr: (words) => void (said.err += words),
  });
  return { code, ...said };
}

describe('the latest release', () => {
  it('is the highest version of the channel and of more stable ones, for the platform and in the range', async () => {
    const { key } = await sellLicense();
    expect(await versionOf(key)).toBe('2.0.0');
    expect(await versionOf(key, { channel: 'beta' })).toBe('3.0.0-beta.1');
    expect(await versionOf(key, { channel: 'beta', constraint: '<2.0.0' })).toBe('2.0.0-beta.10');
    expect(await versionOf(key, { constraint: '^1.0.0' })).toBe('1.10.0');
    expect(await versionOf(key, { platform: 'darwin-arm64' })).toBe('1.10.0');
    expect(await versionOf(key, { platform: 'win32-x64' })).toBeUndefined();
    expect(await versionOf(key, { constraint: '>=7' })).toBeUndefined();
  });

  it('has addresses of files that the server of the seller can check', async () => {
    const { key } = await sellLicense();
    const answer = await requestLatest(key, { platform: 'linux-x64' });
    expect(answer.headers.get('signature')).not.toBeNull();
    const release = releaseIn(answer);
    expect(release?.artifacts).toHaveLength(1);
    const url = new URL(release?.artifacts[0]?.url ?? '');
    const expires = url.searchParams.get('expires') ?? '';
    expect(url.pathname).toBe('/2.0.0/app-linux.tar.gz');
    expect(Number(expires) * 1_000).toBe(Date.parse(release?.urlsExpireAt ?? ''));
    expect(Math.abs(Number(expires) - Date.now() / 1_000 - 300)).toBeLessThan(30);
    const { key: secret } = JSON.parse((await run(['releases', 'downloads', '--json'])).out) as {
      key: string;
    };
    const expected = createHmac('sha256', secret)
      .update(`2.0.0/app-linux.tar.gz\n${expires}`)
      .digest('base64url');
    expect(url.searchParams.get('signature')).toBe(expected);
    const renewed = JSON.parse((await run(['releases', 'downloads', '--new-key', '--json'])).out) as {
      key: string;
    };
    expect(renewed.key).not.toBe(secret);
  });

  it('is none above the policy of the license: time after the activation, and highest version', async () => {
    expect(await versionOf((await sellLicense({ for: 60 * 86_400 })).key)).toBe('1.10.0');
    expect(await versionOf((await sellLicense({ maxVersion: '1' })).key)).toBe('1.10.0');
    expect(await versionOf((await sellLicense({ maxVersion: '1.9' })).key)).toBe('1.9.0');
    expect(await versionOf((await sellLicense({ maxVersion: '2.0' })).key, { channel: 'beta' })).toBe(
      '2.0.0',
    );
  });

  it('is none of another product, and null where nothing is published for it', async () => {
    const { key } = await machines.world.issue({ product: 'acme', term: { kind: 'perpetual' } });
    await service.activate(key, machine);
    expect(releaseIn(await requestLatest(key))).toMatchObject({
      version: '9.0.0',
      artifacts: [{ url: null }],
    });
    expect(await versionOf(key, { constraint: '<9' })).toBeUndefined();
  });

  it('is for a machine that holds the license, and never for a revoked or suspended one', async () => {
    const { id, key } = await machines.world.issue({ term: { kind: 'perpetual' } });
    expect(reasonOf(await requestLatest(key))).toEqual([409, 'not_activated']);
    await service.activate(key, machine);
    expect(reasonOf(await requestLatest(key, {}, 'another-machine-0001'))).toEqual([
      409,
      'active_on_another_machine',
    ]);
    for (const [status, reason] of [
      ['revoked', 'license_revoked'],
      ['suspended', 'license_suspended'],
    ] as const) {
      await machines.world.rows('update licenses.licenses set status = $2 where id = $1', id, status);
      expect(reasonOf(await requestLatest(key))).toEqual([403, reason]);
    }
  });

  it('is none for an expired license, unless its policy keeps what was published before the end', async () => {
    for (const [policy, expected] of [
      [null, [403, 'license_expired']],
      [{ afterExpiry: true }, '1.10.0'],
    ] as const) {
      const { id, key } = await sellLicense(policy);
      await machines.world.rows(
        `update licenses.licenses set expires_at = now() - interval '120 days' where id = $1`,
        id,
      );
      const answer = await requestLatest(key);
      expect(policy === null ? reasonOf(answer) : releaseIn(answer)?.version).toEqual(expected);
      expect(reasonOf(await requestLatest(key, {}, 'another-machine-0001'))).toEqual([
        403,
        'license_expired',
      ]);
    }
  });

  it.each([
    [{ channel: 'nightly' }],
    [{ platform: 'Linux' }],
    [{ constraint: 'newest' }],
    [{ constraint: '1'.repeat(129) }],
    [{ more: 1 }],
  ])('is refused with 400 for %j', async (more) => {
    expect((await requestLatest((await sellLicense()).key, more)).status).toBe(400);
  });
});

describe('operators', () => {
  it('publish local files, list releases in pages, and yank one', async () => {
    const file = path.join(folder, 'tool.zip');
    await writeFile(file, 'the tool');
    const add = ['releases', 'add', '4.0.0', '--product', 'acme', '--notes', 'https://example.com/4'];
    const made = await run([...add, '--artifact', `linux-x64=${file}`, '--json']);
    const sha256 = createHash('sha256').update('the tool').digest('hex');
    expect(JSON.parse(made.out)).toMatchObject({
      release: {
        version: '4.0.0',
        artifacts: [{ name: 'tool.zip', platform: 'linux-x64', size: 8, sha256 }],
      },
    });
    const again = await run([...add, '--artifact', `linux-x64=${file}`]);
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('was already published in stable')]);
    expect((await run([...add, '--artifact', `darwin-arm64=${file}`])).err).toContain('already published');
    const page = async (...more: string[]) =>
      (
        JSON.parse(
          (await run(['releases', 'list', '--product', 'acme', '--limit', '1', '--json', ...more])).out,
        ) as {
          items: { version: string }[];
        }
      ).items.map(({ version }) => version);
    expect([await page(), await page('--after', '4.0.0'), await page('--after', '9.0.0')]).toEqual([
      ['4.0.0'],
      ['9.0.0'],
      [],
    ]);
    const { key } = await machines.world.issue({ product: 'acme', term: { kind: 'perpetual' } });
    await service.activate(key, machine);
    expect(await versionOf(key)).toBe('9.0.0');
    expect((await run(['releases', 'yank', '9.0.0', '--product', 'acme', '--reason', 'crashes'])).code).toBe(
      0,
    );
    expect(await versionOf(key)).toBe('4.0.0');
    expect((await run(['releases', 'list', '--product', 'acme'])).out).toContain('crashes');
    expect((await run(['releases', 'yank', '8.0.0', '--product', 'acme'])).err).toContain('no release 8.0.0');
  });

  it.each([
    [['releases', 'add', '1.0', '--artifact', 'linux-x64=FILE'], 'Semantic Versioning'],
    [['releases', 'add', '5.0.0-rc.1', '--artifact', 'linux-x64=FILE'], 'cannot be in the channel stable'],
    [['releases', 'add', '5.0.0', '--artifact', 'linux-x64=FILE', '--artifact', 'darwin=FILE'], 'same name'],
    [['releases', 'add', '5.0.0', '--artifact', 'linux-x64=/nowhere/at/all'], 'cannot be read'],
    [['releases', 'add', 'v5.0.0', '--artifact', 'linux-x64=FILE'], 'Semantic Versioning'],
    [['releases', 'add', ' 5.0.0', '--artifact', 'linux-x64=FILE'], 'Semantic Versioning'],
    [['releases', 'add', `5.0.0-${'a'.repeat(95)}`, '--artifact', 'linux-x64=FILE'], '100 characters'],
    [['releases', 'add', '1.10.0+other', '--artifact', 'linux-x64=FILE'], 'already published'],
    [['releases', 'add', '5.0.0', '--artifact', `linux-x64=${'a'.repeat(101)}`], 'It must be a platform'],
    [['releases', 'add', '99999999999.0.0', '--artifact', 'linux-x64=FILE'], 'too large'],
    [
      ['releases', 'add', '5.0.0', '--artifact', 'linux-x64=FILE', '--notes', 'javascript:alert(1)'],
      'http or https',
    ],
    [['releases', 'downloads', '--url', 'https://files.example.com/{file}'], 'must contain {expires}'],
    [['releases', 'downloads', '--url', 'ftp://x/{file}{expires}{signature}'], 'http or https'],
    [['plan', 'set', 'p', '--perpetual', '--updates', '365d,365d'], 'must be "all"'],
    [['plan', 'set', 'p', '--perpetual', '--updates', 'max=newest'], 'must be "all"'],
  ])('cannot do what does not fit: %j', async (args, why) => {
    const file = path.join(folder, 'fit.zip');
    await writeFile(file, 'x');
    const ran = await run(args.map((one) => one.replace('FILE', file)));
    expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(why)]);
  });

  it('set the policy of a plan, which applies to sold licenses, and of a license', async () => {
    await run(['plan', 'set', 'pro', '--updates', '365d,max=1']);
    const { key } = await sellLicense();
    expect(await versionOf(key)).toBe('1.10.0');
    expect((await run(['releases', 'policy', '--updates', 'max=1.9,after-expiry'], [key])).code).toBe(0);
    expect(await versionOf(key)).toBe('1.9.0');
    const nothing = await run(['releases', 'policy'], [key]);
    expect([nothing.code, nothing.err]).toEqual([
      1,
      expect.stringContaining('give --updates or --no-updates'),
    ]);
    expect(await versionOf(key)).toBe('1.9.0');
    expect((await run(['releases', 'policy', '--no-updates'], [key])).code).toBe(0);
    expect(await versionOf(key)).toBe('1.10.0');
    await run(['plan', 'set', 'pro', '--updates', 'all']);
    expect(await versionOf(key)).toBe('2.0.0');
  });
});

describe('the page of the customer', () => {
  it('has the downloads, each by an address that is signed when it is opened', async () => {
    const { id } = await sellLicense({ maxVersion: '1' });
    const { world } = machines;
    const link = await world.asOperator((db) => createCustomerLink(db, [world.seal], id, 3_600));
    const { text } = await service.call(link);
    expect(text).toContain('Version 1.10.0');
    expect(text).toContain(linux.sha256);
    const download = `${link}/download/1.10.0/app-linux.tar.gz`;
    expect(text).toContain(download);
    const opened = await service.call(download, { redirect: 'manual' });
    expect(opened.status).toBe(302);
    expect(opened.headers.get('location')).toMatch(
      /^https:\/\/files\.example\.com\/1\.10\.0\/app-linux\.tar\.gz\?expires=\d+&signature=/,
    );
    for (const other of ['2.0.0/app-linux.tar.gz', '1.10.0/other.zip', '%00/x', '1.10.0%00/x', '1.10.0/%00'])
      expect((await service.call(`${link}/download/${other}`, { redirect: 'manual' })).status).toBe(404);
    await world.rows(`update licenses.licenses set status = 'revoked' where id = $1`, id);
    expect((await service.call(link)).text).not.toContain('Downloads');
    expect((await service.call(download, { redirect: 'manual' })).status).toBe(404);
  });
});

it('files with the longest names and versions can be downloaded', async () => {
  const { world } = machines;
  const [version, name] = [`0.0.1+${'a'.repeat(94)}`, `${'+'.repeat(96)}.zip`];
  await world.asOperator((db) =>
    publishRelease(db, {
      product: 'default',
      version,
      channel: 'stable',
      notesUrl: null,
      artifacts: [{ ...linux, name }],
    }),
  );
  const { id } = await sellLicense();
  const link = await world.asOperator((db) => createCustomerLink(db, [world.seal], id, 3_600));
  const download = `${link}/download/${encodeURIComponent(version)}/${encodeURIComponent(name)}`;
  expect((await service.call(download, { redirect: 'manual' })).status).toBe(302);
});

describe('a program', () => {
  const activated = async (): Promise<InstalledClient> => (await machines.activateClient()).client;

  it('finds the latest release for its platform, and believes only signed answers', async () => {
    const client = await activated();
    expect(await client.latest({ platform: 'darwin-arm64' })).toMatchObject({
      isKnown: true,
      release: { version: '1.10.0', artifacts: [{ name: mac.name, sha256: mac.sha256 }] },
    });
    machines.middle.alterAnswer = (answer) => ({
      ...answer,
      body: answer.body.replace('app-mac.zip', 'app-bad.zip'),
    });
    expect(await client.latest({ platform: 'darwin-arm64' })).toMatchObject({
      isKnown: false,
      reason: 'untrusted',
    });
    machines.middle.alterAnswer = dropAnswer;
    expect(await client.latest()).toMatchObject({ isKnown: false, reason: 'unreachable' });
    machines.middle.resetAlterations();
    expect(await client.latest({ constraint: '>=7' })).toEqual({ isKnown: true, release: null });
  });

  it('without a license is refused', async () => {
    expect(await machines.install().latest()).toMatchObject({ isKnown: false, reason: 'no_license' });
  });
});
