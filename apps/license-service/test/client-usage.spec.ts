/** Tests programs that report usage, online and offline, with an attacker between them and the service. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { replaceKey } from '../src/operators/change.ts';
import { setMeters } from '../src/operators/usage.ts';
import { type InstalledClient, type Machines, openMachines } from './machines.ts';
import { dropAnswer } from './middle.ts';
import { waitUntil } from './world.ts';

let machines: Machines;
beforeAll(async () => {
  machines = await openMachines();
});
afterEach(() => {
  machines.middle.resetAlterations();
});
afterAll(() => machines.close());

async function activateMetered() {
  const installed = await machines.activateClient();
  await machines.world.asOperator((db) =>
    setMeters(db, { id: installed.id }, () => ({
      exports: { limit: 3, period: 'month', overLimit: 'refuse' },
    })),
  );
  return installed;
}
const queued = async ({ folder }: InstalledClient): Promise<string[]> =>
  readdir(path.join(folder, 'usage')).catch(() => []);
const usedQuantitiesOf = (report: { usage?: readonly { used: number; limit: number | null }[] }) =>
  report.usage?.map(({ used, limit }) => [used, limit]);

it('a program counts usage, and is refused above the limit', async () => {
  const { client } = await activateMetered();
  const first = await client.meter('exports', 2);
  expect([first.outcome, usedQuantitiesOf(first)]).toEqual(['counted', [[2, 3]]]);
  expect(await client.meter('exports', 2)).toMatchObject({ outcome: 'refused', reason: 'meter_exceeded' });
  expect(await client.meter('unheard')).toMatchObject({ outcome: 'refused', reason: 'unknown_meter' });
  expect(await client.usage()).toMatchObject({
    isKnown: true,
    usage: [{ meter: 'exports', used: 2, limit: 3 }],
  });
  expect(await queued(client)).toEqual([]);
});

it('usage without a connection waits, and is counted once with the next report', async () => {
  const { client } = await activateMetered();
  machines.middle.alterAnswer = dropAnswer;
  expect(await client.meter('exports')).toMatchObject({ outcome: 'queued', reason: 'unreachable' });
  expect(await client.meter('exports')).toMatchObject({ outcome: 'queued' });
  expect(await client.usage()).toMatchObject({ isKnown: false, reason: 'unreachable' });
  expect(await queued(client)).toHaveLength(2);
  machines.middle.resetAlterations();
  expect(usedQuantitiesOf(await client.meter('exports'))).toEqual([[3, 3]]);
  expect(await queued(client)).toEqual([]);
});

it('an answer that got lost is no second count', async () => {
  const { client } = await activateMetered();
  machines.middle.alterAnswer = (answer) => ({ ...answer, status: 503 });
  expect(await client.meter('exports', 2)).toMatchObject({ outcome: 'queued' });
  machines.middle.resetAlterations();
  expect(usedQuantitiesOf(await client.meter('exports'))).toEqual([[3, 3]]);
});

it('several processes on one machine report at the same time, and each event is counted once', async () => {
  const { client, key, id } = await activateMetered();
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
  const { client, id } = await activateMetered();
  const setStatus = (status: string) =>
    machines.world.rows('update licenses.licenses set status = $2 where id = $1', id, status);
  await setStatus('suspended');
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'license_suspended' });
  await setStatus('active');
  expect(await client.usage()).toMatchObject({ usage: [{ used: 0 }] });
});

it('a forged answer counts nothing: neither another number nor an outcome for a reported event', async () => {
  const { client } = await activateMetered();
  machines.middle.alterAnswer = (answer) => ({
    ...answer,
    body: answer.body.replace('"used":1', '"used":0'),
  });
  expect(await client.meter('exports')).toMatchObject({ outcome: 'queued', reason: 'untrusted', usage: [] });
  expect(await queued(client)).toHaveLength(1);
});

it('damaged events are dropped, and a release sends what waits', async () => {
  const { client, id } = await activateMetered();
  machines.middle.alterAnswer = dropAnswer;
  await client.meter('exports');
  machines.middle.resetAlterations();
  await writeFile(path.join(client.folder, 'usage', '000-damaged.json'), '{');
  expect(await client.release()).toMatchObject({ isReleased: true });
  expect(await queued(client)).toEqual([]);
  expect(
    await machines.world.rows('select used from licenses.license_usage where license_id = $1', id),
  ).toEqual([{ used: 1 }]);
});

const usedQuantitiesBy = async (id: string): Promise<string[]> =>
  (
    await machines.world.rows<{ used: string }>(
      'select used::text from licenses.license_usage where license_id = $1 order by meter',
      id,
    )
  ).map(({ used }) => used);
const hour = 3_600_000;
/** Stores events as the client does. */
async function storeEvents({ folder }: InstalledClient, count: number, event: object): Promise<string[]> {
  await mkdir(path.join(folder, 'usage'), { recursive: true });
  const names = Array.from({ length: count }, () => {
    const id = randomUUID();
    return [id, `${String(Date.now()).padStart(15, '0')}-${id}.json`] as const;
  });
  for (const [id, name] of names)
    await writeFile(
      path.join(folder, 'usage', name),
      JSON.stringify({ ...{ id, meter: 'exports', quantity: 1, license: null }, ...event }),
    );
  return names.map(([, name]) => name);
}

it('a full queue is sent before an event is refused, and takes events again', async () => {
  const { client, key, id } = await activateMetered();
  await machines.world.asOperator((db) =>
    setMeters(db, { id }, () => ({ exports: { limit: null, period: 'month', overLimit: 'refuse' } })),
  );
  await storeEvents(client, 1_000, { key, at: new Date().toISOString() });
  machines.middle.alterAnswer = dropAnswer;
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'too_many_queued' });
  machines.middle.resetAlterations();
  expect(usedQuantitiesOf(await client.meter('exports'))).toEqual([[1_001, null]]);
  expect(await queued(client)).toEqual([]);
});

it('events above the number of a day wait for the next day, block no other meter, and hold back a release', async () => {
  const { client, id } = await activateMetered();
  await machines.world.asOperator((db) =>
    setMeters(db, { id }, () => ({
      exports: { limit: null, period: 'month', overLimit: 'refuse' },
      calls: { limit: null, period: 'month', overLimit: 'refuse' },
    })),
  );
  await client.meter('exports');
  const addDays = (days: number) =>
    machines.world.rows(
      `update licenses.license_usage set events_of_day = 10000, events_day = events_day + $2::int where license_id = $1`,
      id,
      days,
    );
  await addDays(0);
  expect(await client.meter('exports')).toMatchObject({ outcome: 'queued', reason: 'too_many_events' });
  const sent: number[] = [];
  machines.middle.alterAnswer = (answer, _target, { body }) => {
    sent.push((JSON.parse(body) as { events: unknown[] }).events.length);
    return answer;
  };
  expect(await client.meter('calls')).toMatchObject({ outcome: 'counted' });
  expect(sent).toEqual([1]);
  machines.middle.resetAlterations();
  expect(await client.release()).toMatchObject({ isReleased: false, reason: 'unsent_usage' });
  await addDays(-1);
  const [name = ''] = await queued(client);
  const nextDay = new Date();
  expect(Number(name.split('-')[1])).toBe(nextDay.setUTCHours(24, 0, 0, 0));
  const usage = path.join(client.folder, 'usage');
  await rename(path.join(usage, name), path.join(usage, name.replace(/\d{15}/, '0'.repeat(15))));
  expect(await client.release()).toMatchObject({ isReleased: true });
  expect(await usedQuantitiesBy(id)).toEqual(['1', '2']);
});

it('an event above the number of a day is refused where too many wait for the next day, and the others stay', async () => {
  const { client, key, id } = await activateMetered();
  await client.meter('exports');
  await machines.world.rows(
    'update licenses.license_usage set events_of_day = 10000 where license_id = $1',
    id,
  );
  const usage = path.join(client.folder, 'usage');
  for (const name of await storeEvents(client, 1_000, { key, at: new Date().toISOString() }))
    await rename(path.join(usage, name), path.join(usage, `later-9${name.slice(1)}`));
  const before = await queued(client);
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'too_many_events' });
  expect(await queued(client)).toEqual(before);
});

it('events of an earlier license, and of an earlier key of this one, are counted for their license', async () => {
  const first = await activateMetered();
  const { client } = first;
  const second = await machines.world.issue({ term: { kind: 'perpetual' } });
  await machines.world.asOperator((db) =>
    setMeters(db, { id: second.id }, () => ({ exports: { limit: 3, period: 'month', overLimit: 'refuse' } })),
  );
  machines.middle.alterAnswer = dropAnswer;
  await client.meter('exports');
  machines.middle.resetAlterations();
  expect(await client.activate(second.key)).toMatchObject({ mayRun: true });
  machines.middle.alterAnswer = dropAnswer;
  await client.meter('exports');
  await client.meter('exports');
  machines.middle.resetAlterations();
  const { key } = await machines.world.asOperator((db) => replaceKey(db, { id: second.id }));
  expect(await client.activate(key)).toMatchObject({ mayRun: true });
  await client.usage();
  expect([await usedQuantitiesBy(first.id), await usedQuantitiesBy(second.id)]).toEqual([['1'], ['2']]);
  expect(await queued(client)).toEqual([]);
});

it('events of a key that the service refuses wait for another day, until they are too old', async () => {
  const { client, id } = await activateMetered();
  const { key, id: other } = await machines.world.issue();
  const [name = ''] = await storeEvents(client, 1, { key, at: new Date().toISOString() });
  await storeEvents(client, 1, { key, at: new Date(Date.now() - 36 * 24 * hour).toISOString() });
  expect(await client.meter('exports')).toMatchObject({ outcome: 'counted' });
  expect(await queued(client)).toEqual([expect.stringMatching(`^later-.*${name.slice(16)}$`)]);
  expect(await client.release()).toMatchObject({ isReleased: true });
  expect([await usedQuantitiesBy(id), await usedQuantitiesBy(other)]).toEqual([['1'], []]);
});

it('a file that cannot be read stays', async () => {
  const { client } = await activateMetered();
  await storeEvents(client, 0, {});
  await symlink('loop.json', path.join(client.folder, 'usage', 'loop.json'));
  expect(await client.usage()).toMatchObject({ isKnown: true });
  expect(await queued(client)).toEqual(['loop.json']);
});

it('an event of a clock that was ahead is counted at the time of the service', async () => {
  const { client, key, id } = await activateMetered();
  const [name = ''] = await storeEvents(client, 1, {
    key,
    at: new Date(Date.now() + 400 * 24 * hour).toISOString(),
  });
  await client.usage();
  const stored = await readFile(path.join(client.folder, 'usage', name), 'utf8');
  expect(Math.abs(Date.parse((JSON.parse(stored) as { at: string }).at) - Date.now())).toBeLessThan(hour);
  await client.usage();
  expect([await usedQuantitiesBy(id), await queued(client)]).toEqual([['1'], []]);
});

it('a license is not released while its usage cannot be sent', async () => {
  const { client } = await activateMetered();
  machines.middle.alterAnswer = (answer, target) => (target === '/api/usage' ? undefined : answer);
  await client.meter('exports');
  expect(await client.release()).toMatchObject({ isReleased: false, reason: 'unreachable' });
  expect(await queued(client)).toHaveLength(1);
  expect(await client.check()).toMatchObject({ mayRun: true });
});

it('a machine that lost its leased slot is refused, although it may get a slot later', async () => {
  const { world } = machines;
  const license = await world.issue({ term: { kind: 'perpetual' } });
  const client = machines.install();
  expect(await client.activate(license.key)).toMatchObject({ mayRun: true });
  await world.rows('update licenses.licenses set lease_seconds = 3600 where id = $1', license.id);
  await world.rows(
    `update licenses.license_machines set offline_until = now() - interval '1 minute' where license_id = $1`,
    license.id,
  );
  expect(await machines.install().activate(license.key)).toMatchObject({ mayRun: true });
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'slots_taken' });
  expect(await queued(client)).toEqual([]);
});

it('usage waits only while the license is valid offline', async () => {
  const { client } = await activateMetered();
  const license = JSON.parse(await readFile(client.file, 'utf8')) as { time: { aheadMillis: number } };
  const { time } = license;
  await writeFile(
    client.file,
    JSON.stringify({ ...license, time: { ...time, aheadMillis: time.aheadMillis + 10 * 24 * hour } }),
  );
  machines.middle.alterAnswer = dropAnswer;
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'certificate_ended' });
  await writeFile(client.file, JSON.stringify({ ...license, certificate: 'lic1.e30.e30' }));
  expect(await client.meter('exports')).toMatchObject({ reason: 'certificate_not_genuine' });
  expect(await queued(client)).toEqual([]);
});

it('reports at the same time share requests', async () => {
  const { client, id } = await activateMetered();
  await machines.world.asOperator((db) =>
    setMeters(db, { id }, () => ({ exports: { limit: null, period: 'month', overLimit: 'refuse' } })),
  );
  const before = machines.middle.asked.length;
  const holder = await machines.world.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from licenses.licenses where id = $1 for update', [id]);
    const running = Promise.all(Array.from({ length: 40 }, () => client.meter('exports')));
    await waitUntil(
      async () => (await queued(client)).filter((name) => name.endsWith('.json')).length === 40,
    );
    await holder.query('rollback');
    expect((await running).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 40 }, () => 'counted'),
    );
  } finally {
    holder.release(true);
  }
  expect(machines.middle.asked.length - before).toBeLessThan(4);
  expect(await usedQuantitiesBy(id)).toEqual(['40']);
});

it('a program without a license, or with wrong values, reports nothing', async () => {
  const client = machines.install();
  expect(await client.meter('exports')).toMatchObject({ outcome: 'refused', reason: 'no_license' });
  expect(await client.usage()).toMatchObject({ isKnown: false, reason: 'no_license' });
  await expect(client.meter('Exports')).rejects.toThrow(TypeError);
  await expect(client.meter('exports', 0)).rejects.toThrow(TypeError);
});
