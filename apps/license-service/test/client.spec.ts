/** Tests the client against the real service: it works through outages, and forged answers have no effect. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type LicenseClientOptions } from '@muster/license-client';
import { runCommandLine } from '../src/command-line.ts';
import { generateKey } from '../src/key/key.ts';
import { revokeLicense, replaceKey, suspendLicense } from '../src/operators/change.ts';
import { releaseMachines } from '../src/operators/machines.ts';
import { createSigningKey, retireSigningKey } from '../src/operators/signing-keys.ts';
import { type InstalledClient, readStoredLicense, type Machines, openMachines } from './machines.ts';
import { passAnswerThrough, dropAnswer, type AlterAnswer, type InterceptingProxy } from './middle.ts';
import { type LicenseWorld, openLicenseWorld, waitUntil } from './world.ts';

let machines: Machines;
let world: LicenseWorld;
let interceptingProxy: InterceptingProxy;

beforeAll(async () => {
  machines = await openMachines();
  ({ world, middle: interceptingProxy } = machines);
});
afterEach(() => {
  jest.useRealTimers();
  interceptingProxy.resetAlterations();
  interceptingProxy.asked.length = 0;
});
afterAll(() => machines.close());

const install = (options?: Partial<LicenseClientOptions>): InstalledClient => machines.install(options);
const activated = () => machines.activateClient();

const day = 86_400_000;
/** Shifts the clock of the machine. Timers and all other clocks stay real. */
const setClock = (millis: number): void =>
  void jest.useFakeTimers({ now: Date.now() + millis, doNotFake: fakedTimersExceptDate() });
const fakedTimersExceptDate = () => [
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
    expect(await readStoredLicense(client)).toMatchObject({ certificate: expect.stringMatching(/^lic1\./) });
    expect(await readdir(client.folder)).toEqual(['license.json']);
  });

  it('hears why it is refused, and where a typo is', async () => {
    const { key } = await activated();
    const typo = `${key.slice(0, -1)}${key.endsWith('Z') ? 'Y' : 'Z'}`;
    const cases = [
      [key, 'active_on_another_machine'],
      [generateKey(), 'unknown_license_key'],
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
    const first = await readStoredLicense(client);
    await client.check();
    expect((await readStoredLicense(client)).certificate).toBe(first.certificate);
    const machineId = await client.machineId();
    let certificate = '';
    const code = await runCommandLine(['cert', '--id', id, '--machine', machineId, '--for', '1s', '--json'], {
      environment: { DATABASE_URL: world.url },
      readLines: async () => [],
      writeStdout: (said) => void ({ certificate } = JSON.parse(said) as { certificate: string }),
      writeStderr: () => undefined,
    });
    expect([code, certificate]).toEqual([0, expect.stringMatching(/^lic1\./)]);
    await writeFile(client.file, JSON.stringify({ ...first, certificate }));
    // The stored certificate is valid for one second. The client renews it after half of that time.
    let checked = await client.check();
    await waitUntil(async () => {
      checked = await client.check();
      return (await readStoredLicense(client)).certificate !== certificate;
    });
    const end = checked.mayRun ? Date.parse(checked.offlineUntil ?? '') : 0;
    expect(end).toBeGreaterThan(Date.now() + 6 * day);
  });
});

describe('while nobody answers', () => {
  it('it runs by its certificate, also when it is activated anew, and not a moment longer', async () => {
    const { client, key } = await activated();
    interceptingProxy.alterAnswer = dropAnswer;
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
    interceptingProxy.alterAnswer = passAnswerThrough;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
  });

  it('a machine without a license hears that nobody answers, and nothing is final', async () => {
    const { key } = await world.issue();
    interceptingProxy.alterAnswer = dropAnswer;
    expect(await install().activate(key)).toMatchObject({
      mayRun: false,
      reason: 'unreachable',
      isFinal: false,
    });
  });

  it('the clock cannot be turned back to make the certificate live longer', async () => {
    const { client } = await activated();
    interceptingProxy.alterAnswer = dropAnswer;
    setClock(6 * day);
    expect(await client.checkOffline()).toMatchObject({ mayRun: true });
    setClock(-5 * day);
    expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'clock_turned_back' });
    expect(await client.check()).toMatchObject({
      mayRun: false,
      reason: 'clock_turned_back',
      isFinal: false,
    });
    // The answer of the service has the correct time.
    interceptingProxy.alterAnswer = passAnswerThrough;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
    interceptingProxy.alterAnswer = dropAnswer;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
  });
});

it('a clock that is turned back is found out by the file too, whatever was written into it', async () => {
  const { client } = await activated();
  const whole = JSON.parse(await readFile(client.file, 'utf8')) as { time: { aheadMillis: number } };
  // Forges the stored state as if the machine's clock were three days behind the service's clock.
  const time = { ...whole.time, aheadMillis: whole.time.aheadMillis + 3 * day };
  await writeFile(client.file, JSON.stringify({ ...whole, time }));
  setClock(-3 * day);
  interceptingProxy.alterAnswer = dropAnswer;
  expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'clock_turned_back' });
  interceptingProxy.alterAnswer = passAnswerThrough;
  expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
});

describe('a license that is taken away', () => {
  it.each([
    [
      'revoked',
      'license_revoked',
      (id: string) => world.asOperator((ask) => revokeLicense(ask, { id }, null)),
    ],
    [
      'suspended',
      'license_suspended',
      (id: string) => world.asOperator((ask) => suspendLicense(ask, { id }, null)),
    ],
    ['released', 'not_activated', (id: string) => world.asOperator((ask) => releaseMachines(ask, { id }))],
    [
      'given another key',
      'unknown_license_key',
      (id: string) => world.asOperator((ask) => replaceKey(ask, { id })),
    ],
  ])('is %s: it runs while it does not hear, and from then on not any more', async (_how, reason, take) => {
    const { client, id } = await activated();
    await take(id);
    interceptingProxy.alterAnswer = dropAnswer;
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    interceptingProxy.alterAnswer = passAnswerThrough;
    expect(await client.check()).toMatchObject({ mayRun: false, reason, isFinal: true });
    // A client that disconnects afterwards does not get the license back.
    interceptingProxy.alterAnswer = dropAnswer;
    expect(await client.check()).toMatchObject({ mayRun: false });
    expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'no_license' });
    // The slot stays released: the client has not taken it again.
    const rows = await world.rows(
      'select from licenses.license_machines where license_id = $1 and released_at is not null',
      id,
    );
    expect(rows).toHaveLength(reason === 'not_activated' ? 1 : 0);
  });

  it('ends with its certificate where it never hears', async () => {
    const { client, id } = await activated();
    await world.asOperator((ask) => revokeLicense(ask, { id }, null));
    interceptingProxy.alterAnswer = dropAnswer;
    setClock(7.1 * day);
    expect(await client.check()).toMatchObject({ mayRun: false, reason: 'certificate_ended' });
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
      await own.asOperator((ask) => createSigningKey(ask, own.seal, { inSeconds: 0 }));
      await own.asOperator((ask) => retireSigningKey(ask, { kid: before?.kid ?? '', publishedSeconds: 0 }));
      await service.refreshKeys();
      expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
      await service.stop();
      // The client has got a certificate that the new key signed, because it could no longer verify the old
      // certificate.
      expect(await client.check()).toMatchObject({ mayRun: true, by: 'certificate' });
    } finally {
      await own.close();
    }
  });

  it('are the pinned ones alone where keys are pinned', async () => {
    const { keys } = await published(interceptingProxy.url);
    const { key } = await world.issue();
    const pinned = install({ publicKeys: keys });
    expect(await pinned.activate(key)).toMatchObject({ mayRun: true });
    expect(interceptingProxy.asked.filter((one) => one.endsWith('.json'))).toHaveLength(1);
    const others = keys.map((one) => ({ ...one, kid: 'another' }));
    expect(await install({ publicKeys: others }).activate(key)).toMatchObject({ reason: 'untrusted' });
  });
});

it('asks again while it is told to, and comes back when it is told to', async () => {
  const { key } = await world.issue();
  const outages: AlterAnswer[] = [
    dropAnswer,
    (answer) => ({ ...answer, status: 503, headers: { 'retry-after': '1', 'license-verdict': 'retry' } }),
  ];
  interceptingProxy.alterAnswer = (answer, target, asked) => {
    const outage = target === '/api/activate' ? outages.shift() : undefined;
    return outage === undefined ? answer : outage(answer, target, asked);
  };
  expect(await install({ patienceSeconds: 20 }).activate(key)).toMatchObject({ mayRun: true });
  expect(interceptingProxy.asked.filter((one) => one === 'POST /api/activate')).toHaveLength(3);
  // After a final answer the client does not call the service again.
  interceptingProxy.asked.length = 0;
  expect(await install({ patienceSeconds: 20 }).activate(key)).toMatchObject({ isFinal: true });
  expect(interceptingProxy.asked.filter((one) => one === 'POST /api/activate')).toHaveLength(1);
  // If Retry-After exceeds the wait that the program allows, the client does not retry. It returns the delay
  // to the program.
  interceptingProxy.asked.length = 0;
  interceptingProxy.alterAnswer = (answer) => ({
    ...answer,
    status: 503,
    headers: { 'retry-after': '3600' },
  });
  expect(await install({ patienceSeconds: 3 }).activate(key)).toMatchObject({ retryAfterSeconds: 3_600 });
  expect(interceptingProxy.asked).toEqual(['POST /api/activate']);
  const limited = await world.start({ environment: { LIMIT_IP: '1/3600', LIMIT_TIMEOUT_MILLIS: '5000' } });
  const one = install({ url: limited.url, patienceSeconds: 5 });
  await one.activate(key);
  const refused = await one.activate(key);
  expect(refused).toMatchObject({ mayRun: false, reason: 'unreachable', isFinal: false });
  expect(refused.mayRun ? 0 : refused.retryAfterSeconds).toBeGreaterThan(3_000);
});
