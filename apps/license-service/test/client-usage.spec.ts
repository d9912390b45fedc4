/** Tests programs that report usage, online and offline, with an attacker between them and the service. */
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { setMeters } from '../src/operators/usage.ts';
import { type InstalledClient, type Machines, openMachines } from './machines.ts';
import { away } from './middle.ts';

let machines: Machines;
beforeAll(async () => {
  machines = await openMachines();
});
afterEach(() => {
  machines.middle.leaveAlone();
});
afterAll(() => machines.close());

async function metered() {
  const installed = await machines.activated();
  await machines.world.asOperator((db) =>
    setMeters(db, { id: installed.id }, () => ({
      exports: { limit: 3, period: 'month', overLimit: 'refuse' },
    })),
  );
  return installed;
}
const queued = async ({ folder }: InstalledClient): Promise<string[]> =>
  readdir(path.join(folder, 'usage')).catch(() => []);
const usedOf = (report: { usage?: readonly { used: number; limit: number | null }[] }) =>
  report.usage?.map(({ used, limit }) => [used, limit]);

it('a program counts usage, and is refused above the limit', async () => {
  const { client } = await metered();
  const first = await client.meter('exports', 2);
  expect([first.outcome, usedOf(first)]).toEqual(['counted', [[2, 3]]]);
  expect(await client.meter('exports', 2)).toMatchObject({ outcome: 'refused', reason: 'meter_exceeded' });
  expect(await client.meter('unheard')).toMatchObject({ outcome: 'refused', reason: 'unknown_meter' });
  expect(await client.usage()).toMatchObject({
    isKnown: true,
    usage: [{ meter: 'exports', used: 2, limit: 3 }],
  });
  expect(await queued(client)).toEqual([]);
});

it('usage without a connection waits, and is counted once with the next report', async () => {
  const { client } = await metered();
  machines.middle.meddle = away;
  expect(await client.meter('exports')).toMatchObject({ outcome: 'queued', reason: 'unreachable' });
  expect(await client.meter('exports')).toMatchObject({ outcome: 'queued' });
  expect(await client.usage()).toMatchObject({ isKnown: false, reason: 'unreachable' });
  expect(await queued(client)).toHaveLength(2);
  machines.middle.leaveAlone();
  expect(usedOf(await client.meter('exports'))).toEqual([[3, 3]]);
  expect(await queued(client)).toEqual([]);
});

it('an answer that got lost is no second count', async () => {
  const { client } = await metered();
  machines.middle.meddle = (answer) => ({ ...answer, status: 503 });
  expect(await client.meter('exports', 2)).toMatchObject({ outcome: 'queued' });
  machines.middle.leaveAlone();
  expect(usedOf(await client.meter('exports'))).toEqual([[3, 3]]);
});

it('several processes on one machine report at the same time, and each event is counted once', async () => {
  const { client, key, id } = await metered();
  await machines.world.asOperator((db) =>
    setMeters(db, { id }, () => ({ exports: { limit: 5, period: 'month', overLimit: 'refuse' } })),
  );
  const other = machines.install({ folder: client.folder, machineId: await client.machineId() });
  expect(await other.activate(key)).toMatchObject({ mayRun: true });
  const reports = await Promise.all(
    Array.from({ length: 10 }, (_, nth) => (nth % 2 === 0 ? client : other).meter('exports')),
  );
  expect(reports.filter(({ outcome }) => outcome === 'counted')).toHaveLength(5);
  expect(reports.filter(({ reason }) => reason === 'meter_exceeded')).toHaveLength(5);
  expect(await queued(client)).toEqual([]);
});

it('an event that a revoked license refused does not count after the license is resumed', async () => {
  const { client, id } = await metered();
  const setStatus = (status: string) =>
    machines.world.rows('update licenses.licenses set status = $2 where id = $1', id, status);
  await setStatus('suspended');
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'license_suspended' });
  await setStatus('active');
  expect(await client.usage()).toMatchObject({ usage: [{ used: 0 }] });
});

it('a forged answer counts nothing: neither another number nor an outcome for a reported event', async () => {
  const { client } = await metered();
  machines.middle.meddle = (answer) => ({
    ...answer,
    body: answer.body.replace('"used":1', '"used":0'),
  });
  expect(await client.meter('exports')).toMatchObject({ outcome: 'queued', reason: 'untrusted', usage: [] });
  expect(await queued(client)).toHaveLength(1);
});

it('events of another license, and damaged ones, are dropped; a release sends what waits', async () => {
  const { client, id } = await metered();
  machines.middle.meddle = away;
  await client.meter('exports');
  machines.middle.leaveAlone();
  await writeFile(path.join(client.folder, 'usage', '000-damaged.json'), '{');
  expect(await client.release()).toMatchObject({ isReleased: true });
  expect(await queued(client)).toEqual([]);
  expect(
    await machines.world.rows('select used from licenses.license_usage where license_id = $1', id),
  ).toEqual([{ used: 1 }]);
});

it('a program without a license, or with wrong values, reports nothing', async () => {
  const client = machines.install();
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'no_license' });
  expect(await client.usage()).toMatchObject({ isKnown: false, reason: 'no_license' });
  await expect(client.meter('Exports')).rejects.toThrow(TypeError);
  await expect(client.meter('exports', 0)).rejects.toThrow(TypeError);
});
