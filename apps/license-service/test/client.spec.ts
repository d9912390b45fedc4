/** The installers' client on the real service: it goes on through outages, and nothing that is made up moves it. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createLicenseClient, type LicenseClient, type LicenseClientOptions } from '@muster/license-client';
import { runCommandLine } from '../src/command-line.ts';
import { newKey } from '../src/key/key.ts';
import { release, revoke, rotate, suspend } from '../src/operators/change.ts';
import { newKeyFor, retireKey } from '../src/operators/signing-keys.ts';
import { asItIs, away, type Meddle, type Middle, type Said, startMiddle } from './middle.ts';
import { type LicenseWorld, openLicenseWorld, until } from './world.ts';

let world: LicenseWorld;
let folder: string;
let middle: Middle;
let serviceUrl: string;
let count = 0;

beforeAll(async () => {
  world = await openLicenseWorld();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-license-client-'));
  ({ url: serviceUrl } = await world.start());
  middle = await startMiddle(serviceUrl);
});
afterEach(() => {
  jest.useRealTimers();
  middle.meddle = asItIs;
  middle.asked.length = 0;
});
afterAll(async () => {
  middle.close();
  await world.close();
  await rm(folder, { recursive: true });
});

interface Installed extends LicenseClient {
  readonly file: string;
  readonly folder: string;
}

/** A program on a machine of its own. */
function install(options: Partial<LicenseClientOptions> = {}): Installed {
  count += 1;
  const own = path.join(folder, String(count));
  const client = createLicenseClient({
    ...{ url: middle.url, product: 'demo', folder: own, machineId: `machine-${count}`, patienceSeconds: 0 },
    ...options,
  });
  return { ...client, folder: options.folder ?? own, file: path.join(options.folder ?? own, 'license.json') };
}

async function activated(): Promise<{ client: Installed; key: string; id: string }> {
  const { key, id } = await world.issue({ term: { kind: 'perpetual' } });
  const client = install();
  expect(await client.activate(key)).toMatchObject({ mayRun: true, by: 'service' });
  return { client, key, id };
}

const kept = async (client: Installed) =>
  JSON.parse(await readFile(client.file, 'utf8')) as { readonly certificate: string };

const day = 86_400_000;
/** The machine's clock says another time from here on; everything else goes on as it does. */
const setClock = (millis: number): void =>
  void jest.useFakeTimers({ now: Date.now() + millis, doNotFake: fakedButDate() });
const fakedButDate = () => [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

describe('a program', () => {
  it('is activated, and activated again, and says until when it may run alone', async () => {
    const { client, key } = await activated();
    const again = await client.activate(key.toLowerCase().replaceAll('-', ' '));
    expect(again).toMatchObject({ mayRun: true, plan: 'pro', expiresAt: '9999-12-31T23:59:59.000Z' });
    const until = again.mayRun ? Date.parse(again.offlineUntil ?? '') : 0;
    expect(Math.abs(until - Date.now() - 7 * day)).toBeLessThan(60_000);
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service', plan: 'pro' });
  });

  it('keeps its license in a file that only its owner reads, with no half of another beside it', async () => {
    const { client } = await activated();
    expect((await stat(client.file)).mode & 0o777).toBe(0o600);
    await Promise.all(Array.from({ length: 8 }, () => client.check()));
    expect(await kept(client)).toMatchObject({ certificate: expect.stringMatching(/^lic1\./) });
    expect(await readdir(client.folder)).toEqual(['license.json']);
  });

  it('hears why it is refused, and where a typo is', async () => {
    const { key } = await activated();
    const typo = `${key.slice(0, -1)}${key.endsWith('Z') ? 'Y' : 'Z'}`;
    const cases = [
      [key, 'active_on_another_machine'],
      [newKey(), 'unknown_license_key'],
      [typo, 'invalid_license_key'],
    ] as const;
    for (const [given, reason] of cases) {
      expect(await install().activate(given)).toMatchObject({ mayRun: false, isFinal: true, reason });
    }
    expect(await install().activate(typo)).toMatchObject({
      message: expect.stringContaining('character 30'),
    });
    expect(await install().check()).toMatchObject({ mayRun: false, reason: 'no_license', isFinal: true });
  });

  it('gives its license back, and another machine takes it', async () => {
    const { client, key } = await activated();
    expect(await client.release()).toEqual({ isReleased: true, transfersLeft: 2 });
    expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'no_license' });
    expect(await install().activate(key)).toMatchObject({ mayRun: true });
    expect(await client.release()).toMatchObject({ isReleased: false, reason: 'no_license' });
  });

  it('renews its certificate when half of its life is over, and no sooner', async () => {
    const { client, id } = await activated();
    const first = await kept(client);
    await client.check();
    expect((await kept(client)).certificate).toBe(first.certificate);
    const machineId = await client.machineId();
    let certificate = '';
    const code = await runCommandLine(['cert', '--id', id, '--machine', machineId, '--for', '1s', '--json'], {
      environment: { DATABASE_URL: world.url },
      readLines: async () => [],
      out: (said) => void ({ certificate } = JSON.parse(said) as { certificate: string }),
      err: () => undefined,
    });
    expect([code, certificate]).toEqual([0, expect.stringMatching(/^lic1\./)]);
    await writeFile(client.file, JSON.stringify({ ...first, certificate }));
    // It lives a second; after half of one it is due.
    let checked = await client.check();
    await until(async () => {
      checked = await client.check();
      return (await kept(client)).certificate !== certificate;
    });
    const end = checked.mayRun ? Date.parse(checked.offlineUntil ?? '') : 0;
    expect(end).toBeGreaterThan(Date.now() + 6 * day);
  });
});

describe('while nobody answers', () => {
  it('it runs by its certificate, also when it is activated anew, and not a moment longer', async () => {
    const { client, key } = await activated();
    middle.meddle = away;
    for (const standing of [await client.check(), await client.activate(key), await client.checkOffline()]) {
      expect(standing).toMatchObject({ mayRun: true, by: 'certificate', plan: 'pro' });
    }
    setClock(6.9 * day);
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    setClock(0.2 * day);
    expect(await client.check()).toMatchObject({
      mayRun: false,
      reason: 'certificate_ended',
      isFinal: false,
    });
    middle.meddle = asItIs;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
  });

  it('a machine without a license hears that nobody answers, and nothing is final', async () => {
    const { key } = await world.issue();
    middle.meddle = away;
    expect(await install().activate(key)).toMatchObject({
      mayRun: false,
      reason: 'unreachable',
      isFinal: false,
    });
  });

  it('the clock cannot be turned back to make the certificate live longer', async () => {
    const { client } = await activated();
    middle.meddle = away;
    setClock(6 * day);
    expect(await client.checkOffline()).toMatchObject({ mayRun: true });
    setClock(-5 * day);
    expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'clock_turned_back' });
    expect(await client.check()).toMatchObject({
      mayRun: false,
      reason: 'clock_turned_back',
      isFinal: false,
    });
    // The service knows the time.
    middle.meddle = asItIs;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
    middle.meddle = away;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
  });
});

describe('a license that is taken away', () => {
  it.each([
    ['revoked', 'license_revoked', (id: string) => world.asOperator((ask) => revoke(ask, { id }, null))],
    ['suspended', 'license_suspended', (id: string) => world.asOperator((ask) => suspend(ask, { id }, null))],
    ['released', 'not_activated', (id: string) => world.asOperator((ask) => release(ask, { id }))],
    [
      'given another key',
      'unknown_license_key',
      (id: string) => world.asOperator((ask) => rotate(ask, { id })),
    ],
  ])('is %s: it runs while it does not hear, and from then on not any more', async (_how, reason, take) => {
    const { client, id } = await activated();
    await take(id);
    middle.meddle = away;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    middle.meddle = asItIs;
    expect(await client.check()).toMatchObject({ mayRun: false, reason, isFinal: true });
    // Pulling the cable does not help.
    middle.meddle = away;
    expect(await client.check()).toMatchObject({ mayRun: false });
    expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'no_license' });
    // It has not taken again what was to be free for others.
    const rows = await world.rows('select from licenses.licenses where id = $1 and machine_hash is null', id);
    expect(rows).toHaveLength(reason === 'not_activated' ? 1 : 0);
  });

  it('ends with its certificate where it never hears', async () => {
    const { client, id } = await activated();
    await world.asOperator((ask) => revoke(ask, { id }, null));
    middle.meddle = away;
    setClock(7.1 * day);
    expect(await client.check()).toMatchObject({ mayRun: false, reason: 'certificate_ended' });
  });
});

describe('what is made up', () => {
  const changed =
    (of: string, to: (value: string) => string): Meddle =>
    (answer) => ({
      ...answer,
      headers: { ...answer.headers, [of]: to(String(answer.headers[of])) },
    });
  const otherBase64 = (value: string): string =>
    value.replace(/:(.)/, (_, first: string) => `:${first === 'A' ? 'B' : 'A'}`);
  let old: Said;

  const lies: [string, Meddle][] = [
    ['a body', (answer) => ({ ...answer, body: answer.body.replace('false', 'true') + ' ' })],
    ['a status', (answer) => ({ ...answer, status: answer.status === 200 ? 403 : 200 })],
    ['a signature', changed('signature', otherBase64)],
    ['a digest', changed('content-digest', otherBase64)],
    ['a time', changed('signature-input', (value) => value.replace(/created=\d/, 'created=2'))],
    ['fewer fields', changed('signature-input', (value) => value.replace(' "license-nonce";req', ''))],
    ['a key', changed('signature-input', (value) => value.replace(/keyid="/, 'keyid="x'))],
    ['no signature', (answer) => ({ ...answer, headers: { 'license-verdict': 'final' } })],
    [
      'a page',
      () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Log in</html>' }),
    ],
    ['the answer to another question', (answer) => (old ??= answer)],
  ];

  it.each(lies)('%s: is no refusal, and no license', async (_what, lie) => {
    old = undefined;
    const { client, key } = await activated();
    middle.meddle = lie;
    if (_what.startsWith('the answer')) await install().activate(key);
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    expect(await install().activate(newKey())).toMatchObject({
      ...{ mayRun: false, isFinal: false, reason: 'untrusted' },
    });
  });

  it('an answer that was asked for without a nonce, as anybody may have it, does not count', async () => {
    const { client, key } = await activated();
    const query = new URLSearchParams({ licenseKey: key, machineId: await client.machineId() }).toString();
    const kept = await fetch(`${serviceUrl}/api/activate/check?${query}`);
    const said = { status: 200, headers: Object.fromEntries(kept.headers), body: await kept.text() };
    expect(said.headers['signature']).toContain('license=');
    middle.meddle = () => said;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
  });

  it('a certificate of another key, another machine or another content lets nothing run', async () => {
    const { client } = await activated();
    const other = await activated();
    const whole = await kept(client);
    const [version = '', body = '', signature = ''] = whole.certificate.split('.');
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { exp: number };
    const longer = Buffer.from(JSON.stringify({ ...payload, exp: payload.exp + 1_000 })).toString(
      'base64url',
    );
    const theirs = await kept(other.client);
    const cases = [
      [`${version}.${longer}.${signature}`, 'certificate_not_genuine'],
      [`${version}.${body}.AAAA`, 'certificate_not_genuine'],
      ['lic1', 'certificate_not_genuine'],
      [theirs.certificate, 'certificate_of_another_machine'],
    ];
    middle.meddle = away;
    for (const [certificate, reason] of cases) {
      await writeFile(client.file, JSON.stringify({ ...whole, certificate }));
      expect(await client.check()).toMatchObject({ mayRun: false, reason });
    }
    await writeFile(client.file, '{ "damaged');
    expect(await client.check()).toMatchObject({ mayRun: false, reason: 'no_license' });
  });

  it('a header that says final makes no refusal of an outage, and one that says retry none of a refusal', async () => {
    const { client, id } = await activated();
    middle.meddle = changed('license-verdict', () => 'retry');
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    middle.meddle = (answer) => ({ ...answer, status: 503, headers: { 'license-verdict': 'final' } });
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    middle.meddle = asItIs;
    await world.asOperator((ask) => revoke(ask, { id }, null));
    expect(await client.check()).toMatchObject({ mayRun: false, isFinal: true });
  });
});

describe('keys of the service', () => {
  interface Published {
    readonly keys: NonNullable<LicenseClientOptions['publicKeys']>;
  }
  const published = async (url: string): Promise<Published> =>
    (await (await fetch(`${url}/.well-known/license-keys.json`)).json()) as Published;

  it('are fetched once, and again when the service signs with another', async () => {
    const own = await openLicenseWorld();
    try {
      const service = await own.start();
      const { key } = await own.issue();
      const client = install({ url: service.url });
      expect(await client.activate(key)).toMatchObject({ mayRun: true });
      const [before] = (await published(service.url)).keys;
      await own.asOperator((ask) => newKeyFor(ask, own.seal, { inSeconds: 0 }));
      await own.asOperator((ask) => retireKey(ask, { kid: before?.kid ?? '', publishedSeconds: 0 }));
      await service.refresh();
      expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
      await service.stop();
      // It has a certificate by the new key, since nobody could check the old one any more.
      expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    } finally {
      await own.close();
    }
  });

  it('are the pinned ones alone where keys are pinned', async () => {
    const { keys } = await published(middle.url);
    const { key } = await world.issue();
    const pinned = install({ publicKeys: keys });
    expect(await pinned.activate(key)).toMatchObject({ mayRun: true });
    expect(middle.asked.filter((one) => one.endsWith('.json'))).toHaveLength(1);
    const others = keys.map((one) => ({ ...one, kid: 'another' }));
    expect(await install({ publicKeys: others }).activate(key)).toMatchObject({ reason: 'untrusted' });
  });
});

it('asks again while it is told to, and comes back when it is told to', async () => {
  const { key } = await world.issue();
  const outages: Meddle[] = [
    away,
    (answer) => ({ ...answer, status: 503, headers: { 'retry-after': '1', 'license-verdict': 'retry' } }),
  ];
  middle.meddle = (answer, target) => {
    const outage = target === '/api/activate' ? outages.shift() : undefined;
    return outage === undefined ? answer : outage(answer, target);
  };
  expect(await install({ patienceSeconds: 20 }).activate(key)).toMatchObject({ mayRun: true });
  expect(middle.asked.filter((one) => one === 'POST /api/activate')).toHaveLength(3);
  // Once a final word came, nothing is asked again.
  middle.asked.length = 0;
  expect(await install({ patienceSeconds: 20 }).activate(key)).toMatchObject({ isFinal: true });
  expect(middle.asked.filter((one) => one === 'POST /api/activate')).toHaveLength(1);
  // Longer than it may wait: it says when instead, and does not ask before that.
  middle.asked.length = 0;
  middle.meddle = (answer) => ({ ...answer, status: 503, headers: { 'retry-after': '3600' } });
  expect(await install({ patienceSeconds: 3 }).activate(key)).toMatchObject({ retryAfterSeconds: 3_600 });
  expect(middle.asked).toEqual(['POST /api/activate']);
  const limited = await world.start({ environment: { LIMIT_IP: '1/3600', LIMIT_TIMEOUT_MILLIS: '5000' } });
  const one = install({ url: limited.url, patienceSeconds: 5 });
  await one.activate(key);
  const refused = await one.activate(key);
  expect(refused).toMatchObject({ mayRun: false, reason: 'unreachable', isFinal: false });
  expect(refused.mayRun ? 0 : refused.retryAfterSeconds).toBeGreaterThan(3_000);
});
