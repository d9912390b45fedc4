/** Tests trials: once per machine, with the duration of the product, and until a key is activated. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../src/command-line.ts';
import { makeProduct, setTrial } from '../src/operators/products.ts';
import { readCertificate } from '../src/signing/certificate.ts';
import { type SigningPublicKey, toKeyObject } from '../src/signing/signing-key.ts';
import {
  type HttpAnswer,
  type LicenseWorld,
  noLimits,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

const days = 86_400;
let world: LicenseWorld;
let service: RunningService;
beforeAll(async () => {
  world = await openLicenseWorld();
  const terms = { trialSeconds: 14 * days, trialFeatures: { export: true, seats: 2 } };
  await world.asOperator((requestTrial) => setTrial(requestTrial, 'default', terms));
  await world.asOperator((ask) => makeProduct(ask, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
  service = await world.start();
});
afterAll(() => world.close());

const ask = (machineId: string, headers?: Record<string, string>, at = service): Promise<HttpAnswer> =>
  at.post('/api/trials', { machineId }, headers);
const trialIn = ({ json }: HttpAnswer) =>
  json['trial'] as { machineId: string; startedAt: string; expiresAt: string };
const reasonOf = ({ status, json }: HttpAnswer) => [
  status,
  (json['details'] as { reason: string } | undefined)?.reason,
];

async function certificateIn({ headers }: HttpAnswer, kind: 'lic1' | 'trial1') {
  const { json } = await service.call('/.well-known/license-keys.json');
  const keys = json['keys'] as SigningPublicKey[];
  return readCertificate(
    headers.get('license-certificate') ?? '',
    (kid) => {
      const key = keys.find((one) => one.kid === kid);
      return key && toKeyObject(key);
    },
    kind,
  );
}

let machineCount = 0;
const newMachineId = (): string => `machine-on-trial-${String((machineCount += 1)).padStart(4, '0')}`;
const endTrial = (startedAt: string) =>
  world.rows(
    `update licenses.trials set started_at = started_at - interval '20 days', ends_at = ends_at - interval '20 days'
     where started_at = $1`,
    startedAt,
  );

describe('a machine without a key', () => {
  it('gets a trial of so many days, and the same one whenever it asks again', async () => {
    const machineId = newMachineId();
    const first = await ask(machineId);
    expect(first.status).toBe(200);
    const { startedAt, expiresAt } = trialIn(first);
    expect(Date.parse(expiresAt) - Date.parse(startedAt)).toBe(14 * days * 1_000);
    expect(trialIn(await ask(machineId))).toEqual({ machineId, startedAt, expiresAt });
    expect(trialIn(await ask(newMachineId())).expiresAt).not.toBe(expiresAt);
  });

  it('gets a certificate of its own kind, which no one can take for a license’s', async () => {
    const answer = await ask(newMachineId());
    const payload = await certificateIn(answer, 'trial1');
    expect(payload).toMatchObject({ plan: 'trial', features: { export: true, seats: 2 } });
    expect(payload?.exp).toBe(Math.floor(Date.parse(trialIn(answer).expiresAt) / 1_000));
    expect(await certificateIn(answer, 'lic1')).toBeUndefined();
  });

  it('gets no other trial after the first has ended, nor a longer one when the product’s are', async () => {
    const machineId = newMachineId();
    const { startedAt } = trialIn(await ask(machineId));
    await endTrial(startedAt);
    const over = await ask(machineId);
    expect(reasonOf(over)).toEqual([403, 'trial_ended']);
    expect(over.headers.get('license-verdict')).toBe('final');
    expect(over.headers.get('license-certificate')).toBeNull();
    const longer = { trialSeconds: 90 * days, trialFeatures: {} };
    await world.asOperator((its) => setTrial(its, 'default', longer));
    expect(reasonOf(await ask(machineId))).toEqual([403, 'trial_ended']);
    await world.asOperator((its) =>
      setTrial(its, 'default', { trialSeconds: 14 * days, trialFeatures: { export: true, seats: 2 } }),
    );
  });

  it('gets one, however many calls race', async () => {
    const machineId = newMachineId();
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(machineId)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map((one) => trialIn(one).startedAt)).size).toBe(1);
  });

  it('gets the one that a call which was not over yet has made', async () => {
    const machineId = newMachineId();
    const before = await world.rows('select from licenses.trials');
    const holder = await world.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('lock table licenses.trials in exclusive mode');
      const answers = Promise.all([ask(machineId), ask(machineId), ask(machineId)]);
      const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      await waitUntil(async () => (await world.rows(waits)).length === 3);
      await holder.query('rollback');
      expect(new Set((await answers).map((one) => trialIn(one).startedAt)).size).toBe(1);
    } finally {
      holder.release(true);
    }
    expect(await world.rows('select from licenses.trials')).toHaveLength(before.length + 1);
  });

  it('gets none of a product that has none, and one of each that has', async () => {
    const machineId = newMachineId();
    expect(reasonOf(await ask(machineId, { 'license-product': 'acme' }))).toEqual([404, 'no_trials']);
    await world.asOperator((its) => setTrial(its, 'acme', { trialSeconds: days, trialFeatures: {} }));
    const answer = await ask(machineId, { 'license-product': 'acme' });
    const { startedAt, expiresAt } = trialIn(answer);
    expect(Date.parse(expiresAt) - Date.parse(startedAt)).toBe(days * 1_000);
    expect((await ask(machineId)).status).toBe(200);
  });

  it('is told what does not fit', async () => {
    for (const body of [{}, { machineId: '' }, { machineId: 7 }, { machineId: 'x'.repeat(257) }, []])
      expect((await service.post('/api/trials', body)).status).toBe(400);
    expect((await service.post('/api/trials', { machineId: 'm', licenseKey: 'k' })).status).toBe(400);
  });
});

describe('a key that is activated on the machine', () => {
  it('ends its trial for good, and the trial’s row says by which license', async () => {
    const machineId = newMachineId();
    await ask(machineId);
    const { id, key } = await world.issue();
    expect((await service.activate(key, machineId)).status).toBe(200);
    expect(reasonOf(await ask(machineId))).toEqual([403, 'trial_converted']);
    expect(
      await world.rows('select from licenses.trials where license_id = $1 and converted_at is not null', id),
    ).toHaveLength(1);
    await service.release(key, machineId);
    expect(reasonOf(await ask(machineId))).toEqual([403, 'trial_converted']);
  });

  it('ends the trial of this machine and this product alone, and one that is refused ends none', async () => {
    const [mine, other] = [newMachineId(), newMachineId()];
    await ask(mine);
    await ask(other);
    const { key } = await world.issue();
    await service.activate(key, other);
    expect((await service.activate(key, mine)).status).toBe(409);
    expect((await ask(mine)).status).toBe(200);
    const { key: acme } = await world.issue({ product: 'acme' });
    expect((await service.activate(acme, mine)).status).toBe(200);
    expect((await ask(mine)).status).toBe(200);
  });
});

describe('what trials cost', () => {
  it('is a failure’s worth for one that begins, and nothing for one that is asked for again', async () => {
    const narrow = await world.start({ environment: { ...noLimits, LIMIT_IP_FAIL: '3/3600' } });
    const known = newMachineId();
    const asked = () => ask(known, {}, narrow);
    for (let turn = 0; turn < 8; turn += 1) expect((await asked()).status).toBe(200);
    for (let turn = 0; turn < 2; turn += 1) expect((await ask(newMachineId(), {}, narrow)).status).toBe(200);
    const refused = await ask(newMachineId(), {}, narrow);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(refused.headers.get('license-verdict')).toBe('retry');
  });

  it('is counted with the activations of an address', async () => {
    const narrow = await world.start({ environment: { ...noLimits, LIMIT_IP: '3/3600' } });
    const known = newMachineId();
    for (let turn = 0; turn < 3; turn += 1) expect((await ask(known, {}, narrow)).status).toBe(200);
    expect((await ask(known, {}, narrow)).status).toBe(429);
    expect((await narrow.post('/api/trials', {})).status).toBe(429);
  });
});

it('a machine is known by the pepper before, and by that of now from then on', async () => {
  const old = await world.start({ environment: { ...noLimits, LICENSE_PEPPER: 'a pepper of before' } });
  const machineId = newMachineId();
  const { startedAt } = trialIn(await ask(machineId, {}, old));
  const turning = {
    ...{ LICENSE_PEPPER: 'the pepper of now', LICENSE_PEPPER_BEFORE: 'a pepper of before' },
  };
  const both = await world.start({ environment: { ...noLimits, ...turning } });
  expect(trialIn(await ask(machineId, {}, both)).startedAt).toBe(startedAt);
  const now = await world.start({ environment: { ...noLimits, LICENSE_PEPPER: 'the pepper of now' } });
  expect(trialIn(await ask(machineId, {}, now)).startedAt).toBe(startedAt);
});

it('operators are told how many began, go on and were converted', async () => {
  let said = '';
  const environment = { DATABASE_URL: world.url };
  const out = (words: string): void => void (said += words);
  const run = (...args: string[]) =>
    runCommandLine(args, { environment, readLines: async () => [], writeStdout: out, writeStderr: out });
  expect(await run('stats', '--json')).toBe(0);
  const { trials } = JSON.parse(said) as { trials: { product: string; begun: number; converted: number }[] };
  const [row] = await world.rows(
    `select product, count(*)::int as begun, count(converted_at)::int as converted,
       (count(*) filter (where converted_at is null and ends_at > now()))::int as running
     from licenses.trials where product = 'default' group by product`,
  );
  expect(trials).toContainEqual(row);
  said = '';
  expect(await run('product', 'set', 'acme', '--trial', '30d', '--feature', 'seats=1')).toBe(0);
  expect(said).toContain('a trial of 30 days on each machine, features seats 1');
  said = '';
  expect(await run('product', 'set', 'acme', '--no-trial')).toBe(0);
  expect(said).toContain('no trials');
  expect(await run('product', 'set', 'unheard', '--trial', '1d')).toBe(1);
  said = '';
  const { headers } = await ask(newMachineId());
  const verify = (line: string) =>
    runCommandLine(['verify', '--json'], {
      environment,
      readLines: async () => [line],
      writeStdout: out,
      writeStderr: out,
    });
  expect(await verify(headers.get('license-certificate') ?? '')).toBe(0);
  expect(JSON.parse(said)).toMatchObject({ isGenuine: true, isAlive: true, payload: { plan: 'trial' } });
});

it('the role of the paths may not move a trial’s end', async () => {
  const [row] = await world.rows<{ may: boolean }>(
    `select has_column_privilege('muster_licenses', 'licenses.trials', 'ends_at', 'update')
       or has_column_privilege('muster_licenses', 'licenses.trials', 'started_at', 'update')
       or has_table_privilege('muster_licenses', 'licenses.trials', 'delete') as may`,
  );
  expect(row).toEqual({ may: false });
});
