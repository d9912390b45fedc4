/** Tests that secrets do not leak, that the trail cannot be changed, and that peppers can be rotated. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPool } from '@muster/driver';
import { pino } from 'pino';
import { createMachineHasher } from '../src/activation/machine.ts';
import { provision } from '../src/database.ts';
import { hashKey } from '../src/key/key.ts';
import { unseal } from '../src/signing/seal.ts';
import { type LicenseWorld, noLimits, openLicenseWorld } from './world.ts';

let world: LicenseWorld;
beforeAll(async () => {
  world = await openLicenseWorld();
});
afterAll(() => world.close());

it('writes no key, no machine and no query string into a line, an error or the database', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const service = await world.start({ logger });
  const { key, id } = await world.issue();
  const [machine, wanted] = ['canary-machine-4711', 'canary-machine-0815'];
  const bare = key.replaceAll('-', '');
  const typo = `${bare.slice(0, -1)}${bare.endsWith('Z') ? 'Y' : 'Z'}`;
  const canaries = [key, bare, bare.slice(5, 20), bare.slice(0, 20), typo, machine, wanted];
  const told: string[] = [];
  for (const answer of [
    await service.activate(key, machine),
    await service.activate(key, wanted),
    await service.activate(typo, machine),
    await service.activate(`${key}x`, machine),
    await service.check(key, wanted),
    await service.check(typo, machine),
    await service.release(key, wanted),
    await service.post('/api/activate', { [key]: machine, licenseKey: [key], machineId: machine }),
    await service.post('/api/activate', { licenseKey: key, machineId: `${machine}\u0000` }),
    await service.call(`/api/activate/check?licenseKey=${key}&machineId=${machine}&${key}=1`),
    ...(await Promise.all(
      [{ [key]: 1, events: [] }, { events: [{ id: 'a', meter: 'calls', [key]: 1 }] }].map((more) =>
        service.post('/api/usage', { licenseKey: key, machineId: machine, ...more }),
      ),
    )),
    await service.post('/api/releases/latest', { licenseKey: key, machineId: machine, [key]: 1 }),
    await service.call(`/nothing/${key}?licenseKey=${key}`),
    await service.call(`/api/activate/check?licenseKey=${key}`),
    await service.call('/nothing', { headers: { 'x-request-id': key } }),
    await service.call('/nothing', { headers: { 'x-request-id': bare } }),
    await service.call('/api/activate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"licenseKey":"${key}`,
    }),
  ]) {
    if (answer.status >= 400) told.push(answer.text);
  }
  // Causes a database error. The details of that error must not appear in any answer or log.
  await world.rows(
    'alter table licenses.license_machines add constraint broken check (machine_hint is null) not valid',
  );
  await world.rows('delete from licenses.license_machines');
  const fault = await service.activate(key, wanted);
  await world.rows('alter table licenses.license_machines drop constraint broken');
  expect(fault.status).toBe(500);
  told.push(fault.text);
  expect(told.length).toBeGreaterThan(10);
  expect(lines.some((line) => line.includes('fault'))).toBe(true);
  expect(lines.filter((line) => line.includes('"operation"')).length).toBeGreaterThan(8);

  const metrics = await service.service.metrics.registry.metrics();
  const tables = ['licenses', 'license_machines', 'license_events', 'license_denials'];
  const rows = await Promise.all(tables.map((table) => world.rows(`select * from licenses.${table}`)));
  const kept = JSON.stringify(rows);
  expect(kept).toContain(id);
  for (const canary of canaries) {
    for (const text of [...lines, ...told, metrics, kept]) expect(text.includes(canary)).toBe(false);
  }
});

it('keeps of a machine what only the pepper can make', async () => {
  const pepper = 'a pepper for this spec only';
  const service = await world.start({ environment: { ...noLimits, LICENSE_PEPPER: pepper } });
  const { key } = await world.issue();
  await service.activate(key, 'machine');
  const [row] = await world.rows<{ machine_hash: Buffer; pepper_id: string; machine_hint: string }>(
    `select machine_hash, pepper_id, machine_hint from licenses.license_machines
     join licenses.licenses on id = license_id where key_hash = $1`,
    hashKey(key),
  );
  const [hash] = createMachineHasher(pepper, null).hashes('machine');
  expect(row?.machine_hash.equals(hash)).toBe(true);
  expect(createMachineHasher('another pepper, as long', null).hashes('machine')[0].equals(hash)).toBe(false);
  expect(row?.machine_hint).toBe('…');
});

it('accepts the pepper before while machines come by, and hashes them anew', async () => {
  const [old, fresh] = ['the pepper that was there', 'the pepper that comes now'];
  const { key } = await world.issue();
  const rare = await world.issue();
  const before = await world.start({ environment: { ...noLimits, LICENSE_PEPPER: old } });
  await before.activate(key, 'machine');
  await before.activate(rare.key, 'machine');

  const between = await world.start({
    environment: { ...noLimits, LICENSE_PEPPER: fresh, LICENSE_PEPPER_BEFORE: old },
  });
  expect((await between.check(key, 'machine')).json).toMatchObject({ valid: true });
  expect((await between.activate(key, 'other')).status).toBe(409);
  expect((await between.activate(key, 'machine')).status).toBe(200);

  const after = await world.start({
    environment: { ...noLimits, LICENSE_PEPPER: fresh, LICENSE_PEPPER_BEFORE: fresh },
  });
  expect((await after.activate(key, 'machine')).status).toBe(200);
  // The machine that holds this license did not call during the rotation, so the service does not recognize
  // it now. The command `doctor` warns of this.
  expect((await after.activate(rare.key, 'machine')).status).toBe(409);
});

it('goes from the secret of the database to one of the environment without losing a machine', async () => {
  const { key } = await world.issue();
  await (await world.start()).activate(key, 'machine');
  const service = await world.start({
    environment: { ...noLimits, LICENSE_PEPPER: 'the first of the environment' },
  });
  expect((await service.activate(key, 'machine')).status).toBe(200);
});

it('knows a machine in all processes while the pepper changes, where each has the new one before it is used', async () => {
  const [old, fresh] = ['the pepper that was there', 'the pepper that comes now'];
  const start = (pepper: string, before: string) =>
    world.start({ environment: { ...noLimits, LICENSE_PEPPER: pepper, LICENSE_PEPPER_BEFORE: before } });
  const [last, first] = [await start(old, fresh), await start(fresh, old)];
  const { key } = await world.issue();
  for (const service of [last, first, last, first])
    expect((await service.activate(key, 'machine')).status).toBe(200);
});

it('gives a machine one slot again that had two, since a process did not know the new pepper', async () => {
  const [old, fresh] = ['the pepper that was there', 'the pepper that comes now'];
  const last = await world.start({
    environment: { ...noLimits, LICENSE_PEPPER: old, LICENSE_PEPPER_BEFORE: old },
  });
  const first = await world.start({
    environment: { ...noLimits, LICENSE_PEPPER: fresh, LICENSE_PEPPER_BEFORE: old },
  });
  const { key } = await world.issue({ machineLimit: 2 });
  for (const service of [last, first, last, first, first])
    expect((await service.activate(key, 'machine')).status).toBe(200);
  expect((await first.activate(key, 'other')).headers.get('license-machines')).toBe('2/2');
});

it('seals signing keys anew with the seal of the environment, and keeps no other beside them', async () => {
  const own = await openLicenseWorld();
  try {
    const { key } = await own.issue();
    const kidOf = async (environment: Record<string, string>): Promise<unknown> => {
      const service = await own.start({ environment: { ...noLimits, ...environment } });
      expect((await service.activate(key, 'machine')).headers.get('signature')).not.toBeNull();
      return (await service.call('/.well-known/license-keys.json')).json['keys'];
    };
    const before = await kidOf({});
    const LICENSE_SEAL = 'a seal of the environment';
    expect(await kidOf({ LICENSE_SEAL })).toEqual(before);

    expect(await own.rows('select name from licenses.secrets')).toEqual([{ name: 'pepper' }]);
    const [row] = await own.rows<{ kid: string; sealed_key: Buffer }>(
      'select kid, sealed_key from licenses.signing_keys',
    );
    const opens = (secret: string | Buffer): boolean =>
      row !== undefined && unseal(secret, row.kid, row.sealed_key) !== undefined;
    expect([opens(own.seal), opens(LICENSE_SEAL)]).toEqual([false, true]);
    expect(await kidOf({ LICENSE_SEAL })).toEqual(before);
  } finally {
    await own.close();
  }
});

it('lets nobody change what was written down, and its own role little else', async () => {
  const { id } = await world.issue();
  const service = createPool({ url: world.url, role: 'muster_licenses', max: 1 });
  try {
    for (const [sql, refusal] of [
      ['update licenses.license_events set kind = $$revoked$$', /permission denied/],
      ['delete from licenses.license_events', /permission denied/],
      ['truncate licenses.license_events', /permission denied/],
      ['delete from licenses.licenses', /permission denied/],
      [`update licenses.licenses set status = 'active'`, /permission denied/],
      [`update licenses.licenses set key_hash = sha256('a')`, /permission denied/],
      ['insert into licenses.plans (name, transfer_limit) values ($$a$$, 1)', /permission denied/],
      ['delete from licenses.license_denials', /permission denied/],
      ['update licenses.signing_keys set retired_at = now()', /permission denied/],
      ['update licenses.secrets set value = $$$$', /permission denied/],
      ['create table licenses.mine (id int)', /permission denied/],
    ] as const) {
      await expect(service.query(sql)).rejects.toThrow(refusal);
    }
  } finally {
    await service.end();
  }
  for (const sql of [
    'update licenses.license_events set actor = $$machine$$',
    `delete from licenses.license_events where license_id = '${id}'`,
    'truncate licenses.license_events',
  ]) {
    await expect(world.rows(sql)).rejects.toThrow('license_events is append-only');
  }
});

it('is brought up by several at once, once', async () => {
  const fresh = await openLicenseWorld();
  try {
    await fresh.rows('drop schema licenses cascade');
    const given = { pepper: undefined, pepperBefore: undefined, seal: undefined };
    await Promise.all([1, 2, 3].map(() => provision(fresh.url, given)));
    const [row] = await fresh.rows<{ keys: number; secrets: number }>(
      `select (select count(*)::int from licenses.signing_keys) as keys, (select count(*)::int from licenses.secrets) as secrets`,
    );
    expect(row).toEqual({ keys: 1, secrets: 2 });
  } finally {
    await fresh.close();
  }
});
