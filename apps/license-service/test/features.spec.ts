/** Tests the features of a license, from the operator's command to an offline program. */
import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type Standing } from '@muster/license-client';
import { runCommandLine } from '../src/command-line.ts';
import { type InstalledClient, readStoredLicense, type Machines, openMachines } from './machines.ts';
import { dropAnswer } from './middle.ts';

let machines: Machines;
beforeAll(async () => {
  machines = await openMachines();
});
afterEach(() => {
  machines.middle.resetAlterations();
});
afterAll(() => machines.close());

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

async function json<Result>(args: readonly string[], input?: readonly string[]): Promise<Result> {
  const { code, out, err } = await run([...args, '--json'], input);
  if (code !== 0) throw new Error(`license ${args.join(' ')} ended with ${code}: ${out}${err}`);
  return JSON.parse(out) as Result;
}

async function sellLicense(plan: string, ...args: string[]): Promise<string> {
  const { licenses } = await json<{ licenses: { key: string }[] }>(['issue', '--plan', plan, ...args]);
  return licenses[0]?.key ?? '';
}

/** Returns the features that the program sees on this machine. */
function entitlementsOf(standing: Standing) {
  if (!standing.mayRun) throw new Error(standing.message);
  const { by, has, limit } = standing;
  const names = ['export', 'api', 'seats', 'toString'];
  return { by, has: names.filter((name) => has(name)), seats: limit('seats'), export: limit('export') };
}

const payloadIn = async (client: InstalledClient) => {
  const { certificate } = await readStoredLicense(client);
  const [, body = ''] = certificate.split('.');
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>;
};

it('are those of the plan, signed in the certificate, and known without the service', async () => {
  await json(['plan', 'set', 'team', '--for', '30d', '--feature', 'export', '--feature', 'seats=5']);
  const client = machines.install();
  const key = await sellLicense('team');
  const may = { has: ['export', 'seats'], seats: 5, export: null };
  expect(entitlementsOf(await client.activate(key))).toEqual({ by: 'service', ...may });
  expect(entitlementsOf(await client.check())).toEqual({ by: 'service', ...may });
  machines.middle.alterAnswer = dropAnswer;
  expect(entitlementsOf(await client.check())).toEqual({ by: 'certificate', ...may });
  expect(entitlementsOf(await client.checkOffline())).toEqual({ by: 'certificate', ...may });
  expect(await payloadIn(client)).toMatchObject({ plan: 'team', features: { export: true, seats: 5 } });
});

it('written by somebody else into the certificate are not believed', async () => {
  const client = machines.install();
  await client.activate(await sellLicense('team'));
  const all = await readStoredLicense(client);
  const [version, , signature] = all.certificate.split('.');
  const payload = { ...(await payloadIn(client)), features: { api: true, seats: 500 } };
  const body = Buffer.from(JSON.stringify(payload)).toString('base64url');
  await writeFile(client.file, JSON.stringify({ ...all, certificate: `${version}.${body}.${signature}` }));
  expect(await client.checkOffline()).toMatchObject({ mayRun: false, reason: 'certificate_not_genuine' });
});

it('are changed for a plan, and reach machines with the next certificate, not before', async () => {
  await json(['plan', 'set', 'studio', '--perpetual', '--feature', 'seats=1', '--feature', 'export']);
  const client = machines.install();
  const key = await sellLicense('studio');
  await client.activate(key);
  await json([
    'plan',
    'set',
    'studio',
    '--feature',
    'seats=9',
    '--feature',
    'api',
    '--drop-feature',
    'export',
  ]);
  // The certificate is new, so the check does not renew it and the old features still apply.
  expect(entitlementsOf(await client.check())).toMatchObject({ has: ['export', 'seats'], seats: 1 });
  expect(entitlementsOf(await client.activate(key))).toMatchObject({ has: ['api', 'seats'], seats: 9 });
  machines.middle.alterAnswer = dropAnswer;
  expect(entitlementsOf(await client.check())).toMatchObject({
    by: 'certificate',
    has: ['api', 'seats'],
    seats: 9,
  });
});

it('of a license stand in place of its plan’s, at issue and later, and audit tells it', async () => {
  await json(['plan', 'set', 'solo', '--perpetual', '--feature', 'seats=1', '--feature', 'export']);
  const [key, other] = [
    await sellLicense('solo', '--feature', 'seats=3', '--feature', 'export=off'),
    await sellLicense('solo'),
  ];
  const client = machines.install();
  expect(entitlementsOf(await client.activate(key))).toMatchObject({ has: ['seats'], seats: 3 });
  await json(['entitle', '--feature', 'api', '--drop-feature', 'export'], [key]);
  expect(entitlementsOf(await client.activate(key))).toMatchObject({
    has: ['export', 'api', 'seats'],
    seats: 3,
  });
  expect(entitlementsOf(await machines.install().activate(other))).toMatchObject({
    has: ['export', 'seats'],
    seats: 1,
  });
  const shown = await run(['show'], [key]);
  expect(shown.out).toMatch(/features {3}.*seats 3/);
  expect((await run(['audit'], [key])).out).toContain('entitled');
  const machineId = await client.machineId();
  const { certificate } = await json<{ certificate: string }>(['cert', '--machine', machineId], [key]);
  const verified = await json<{ payload: unknown }>(['verify'], [certificate]);
  expect(verified.payload).toMatchObject({ features: { export: true, api: true, seats: 3 } });
});

it('are as many as a plan and a license have together', async () => {
  const named = (word: string) =>
    Array.from({ length: 32 }, (_, nth) => ['--feature', `${word}${nth}`]).flat();
  await json(['plan', 'set', 'large', '--perpetual', ...named('of-the-plan-')]);
  const key = await sellLicense('large', ...named('of-the-license-'));
  const client = machines.install();
  const standing = await client.activate(key);
  expect(standing.mayRun && Object.keys(standing.features)).toHaveLength(64);
  const { certificate } = await readStoredLicense(client);
  expect((await run(['verify'], [certificate])).code).toBe(0);
});

it.each([
  [['--feature', 'Export'], 'in lower case'],
  [['--feature', 'seats=many'], 'in lower case'],
  [['--feature', 'seats=-1'], 'in lower case'],
  [['--feature', '__proto__'], 'in lower case'],
  [Array.from({ length: 33 }, (_, nth) => ['--feature', `f${nth}`]).flat(), 'at most 32'],
])('are refused where they do not fit: %j', async (words, why) => {
  const ran = await run(['plan', 'set', 'wrong', '--perpetual', ...words]);
  expect([ran.code, ran.err]).toEqual([1, expect.stringContaining(why)]);
});
