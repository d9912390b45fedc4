/** Tests a program without a key, until its trial ends or a key is entered. */
import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { makeProduct, setTrial } from '../src/operators/products.ts';
import { type InstalledClient, readStoredLicense, type Machines, openMachines } from './machines.ts';
import { dropAnswer } from './middle.ts';

const day = 86_400_000;
let machines: Machines;
beforeAll(async () => {
  machines = await openMachines();
  const terms = { trialSeconds: 14 * 86_400, trialFeatures: { export: true } };
  const { world } = machines;
  await world.asOperator((ask) => setTrial(ask, 'default', terms));
  await world.asOperator((ask) => makeProduct(ask, { name: 'acme', keyPrefix: 'ACME1', seal: world.seal }));
  await machines.refresh();
});
afterEach(() => {
  machines.middle.resetAlterations();
  jest.restoreAllMocks();
});
afterAll(() => machines.close());

/** Moves the clock of this process by shifting Date.now. */
function moveClock(millis: number): void {
  const now = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => now() + millis);
}

const endAllTrials = () =>
  machines.world.rows(
    `update licenses.trials set started_at = started_at - interval '20 days', ends_at = ends_at - interval '20 days'`,
  );

async function startTrialClient(): Promise<InstalledClient> {
  const client = machines.install();
  expect(await client.trial()).toMatchObject({ mayRun: true, by: 'service', isTrial: true, plan: 'trial' });
  return client;
}

describe('a program without a key', () => {
  it('runs for as long as its trial lasts, by its certificate where nobody answers', async () => {
    const client = await startTrialClient();
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service', isTrial: true });
    machines.middle.alterAnswer = dropAnswer;
    for (const standing of [await client.trial(), await client.check(), await client.checkOffline()]) {
      expect(standing).toMatchObject({ mayRun: true, by: 'certificate', isTrial: true });
      expect(standing.mayRun && standing.has('export')).toBe(true);
    }
    moveClock(13.9 * day);
    expect(await client.check()).toMatchObject({ mayRun: true });
    jest.restoreAllMocks();
    moveClock(14.1 * day);
    expect(await client.check()).toMatchObject({ mayRun: false, reason: 'certificate_ended' });
  });

  it('is stopped by the service’s word, and pulling the cable afterwards does not help', async () => {
    const client = await startTrialClient();
    await endAllTrials();
    expect(await client.check()).toMatchObject({ mayRun: false, reason: 'trial_ended', isFinal: true });
    machines.middle.alterAnswer = dropAnswer;
    expect((await client.check()).mayRun).toBe(false);
    expect((await client.trial()).mayRun).toBe(false);
    machines.middle.resetAlterations();
    expect(await client.trial()).toMatchObject({ mayRun: false, reason: 'trial_ended' });
  });

  it('is told where there are no trials, and where nobody answers', async () => {
    const other = machines.install({ serviceProduct: 'acme' });
    expect(await other.trial()).toMatchObject({ mayRun: false, reason: 'no_trials', isFinal: true });
    machines.middle.alterAnswer = dropAnswer;
    expect(await machines.install().trial()).toMatchObject({ mayRun: false, reason: 'unreachable' });
  });

  it('believes no yes to another machine, and no certificate of a license', async () => {
    const client = machines.install();
    machines.middle.alterBody = (body) => body.replace(/machine-\d+/, 'machine-of-another');
    expect(await client.trial()).toMatchObject({ mayRun: false, reason: 'untrusted' });
    machines.middle.resetAlterations();
    // Headers are not signed, so the test puts two other certificates there: the trial certificate of another
    // machine, and the license certificate of this machine.
    const other = await startTrialClient();
    const machineId = await client.machineId();
    const licensed = machines.install({ machineId });
    expect(await licensed.activate((await machines.world.issue()).key)).toMatchObject({ mayRun: true });
    await machines.world.rows('update licenses.trials set converted_at = null, license_id = null');
    for (const { certificate } of [await readStoredLicense(other), await readStoredLicense(licensed)]) {
      machines.middle.alterAnswer = (answer) => ({
        ...answer,
        headers: { ...answer.headers, 'license-certificate': certificate },
      });
      expect(await client.trial()).toMatchObject({ mayRun: false, reason: 'untrusted' });
    }
  });

  it('cannot make a license of its trial in its own file', async () => {
    const client = await startTrialClient();
    const found = await readStoredLicense(client);
    const { key } = await machines.world.issue();
    await writeFile(client.file, JSON.stringify({ ...found, licenseKey: key }));
    expect(await client.checkOffline()).toMatchObject({ reason: 'certificate_not_genuine' });
  });
});

describe('a key', () => {
  it('takes the trial’s place, and where it is wrong the trial goes on', async () => {
    const client = await startTrialClient();
    expect(await client.activate('MSTR1-XXXXX')).toMatchObject({ reason: 'invalid_license_key' });
    expect(await client.check()).toMatchObject({ mayRun: true, isTrial: true });
    const { key } = await machines.world.issue();
    expect(await client.activate(key)).toMatchObject({ mayRun: true, isTrial: false, plan: 'pro' });
    expect(await client.check()).toMatchObject({ mayRun: true, isTrial: false });
    expect(await client.trial()).toMatchObject({ mayRun: true, isTrial: false });
    await client.release();
    expect(await client.trial()).toMatchObject({ mayRun: false, reason: 'trial_converted' });
  });

  it('is what a release gives back; a trial has none', async () => {
    const client = await startTrialClient();
    expect(await client.release()).toMatchObject({ isReleased: false, reason: 'no_license' });
    expect(await client.check()).toMatchObject({ mayRun: true, isTrial: true });
  });
});
