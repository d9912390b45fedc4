/** Tests licenses with leased slots. The database's clock measures the leases. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../src/command-line.ts';
import { type InstalledClient, type Machines, openMachines } from './machines.ts';
import { type HttpAnswer, noLimits, type RunningService, waitUntil } from './world.ts';

let machines: Machines;
let service: RunningService;
beforeAll(async () => {
  machines = await openMachines();
  service = await machines.world.start();
  await license([
    'plan',
    'set',
    'studio',
    '--perpetual',
    '--machines',
    '2',
    '--lease',
    '15m',
    '--transfers',
    '0',
  ]);
});
afterAll(() => machines.close());

const [ana, ben, eve] = ['machine-of-ana-0001', 'machine-of-ben-0002', 'machine-of-eve-0003'] as const;

async function license(args: readonly string[], input = ''): Promise<string> {
  let said = '';
  const code = await runCommandLine(args, {
    environment: { DATABASE_URL: machines.world.url },
    readLines: async () => input.split('\n').filter((line) => line !== ''),
    writeStdout: (words) => void (said += words),
    writeStderr: (words) => void (said += words),
  });
  return code === 0 ? said : `failed: ${said}`;
}

const sellLicense = () => machines.world.issue({ plan: 'studio', term: undefined });

const stateOf = ({ status, headers, json }: HttpAnswer): unknown[] => [
  ...[status, (json['details'] as { reason?: string } | undefined)?.reason ?? headers.get('license-state')],
  headers.get('license-machines'),
];

/** Makes the lease of a slot expire. */
const expireLease = (id: string, slot = 1) =>
  machines.world.rows(
    `update licenses.license_machines set offline_until = clock_timestamp() - interval '1 second'
     where license_id = $1 and slot = $2`,
    ...[id, slot],
  );

const heldMachineHints = (id: string) =>
  machines.world
    .rows<{ hint: string }>(
      'select machine_hint as hint from licenses.held_machines where license_id = $1 order by slot',
      id,
    )
    .then((rows) => rows.map(({ hint }) => hint));

const certificateIn = (text: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(text.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('a slot that is lent', () => {
  it('is its machine’s for as long as its certificate lives, and no longer', async () => {
    const { key, id } = await sellLicense();
    const first = await service.activate(key, ana);
    const { iat, exp, lease } = certificateIn(first.headers.get('license-certificate') ?? '');
    expect([Number(exp) - Number(iat), lease]).toEqual([900, 900]);
    await service.activate(key, ben);
    const refused = await service.activate(key, eve);
    expect(stateOf(refused)).toEqual([409, 'slots_taken', '2/2']);
    expect(refused.json['details']).toMatchObject({ retryable: true });
    await expireLease(id);
    expect(stateOf(await service.check(key, ana))).toEqual([200, 'unactivated', '1/2']);
    expect((await service.check(key, ana)).json).toMatchObject({ valid: false, active: false });
    expect(stateOf(await service.activate(key, eve))).toEqual([200, 'active', '2/2']);
    expect(stateOf(await service.activate(key, ana))).toEqual([409, 'slots_taken', '2/2']);
    expect(await heldMachineHints(id)).toEqual(['…0003', '…0002']);
  });

  it('is lent again by activating in time, and goes on being the same', async () => {
    const { key, id } = await sellLicense();
    await service.activate(key, ana);
    const row = () =>
      machines.world.rows<{ bound_at: string; left: number }>(
        `select bound_at, extract(epoch from offline_until - clock_timestamp())::float8 as left
         from licenses.license_machines where license_id = $1`,
        id,
      );
    await machines.world.rows(
      `update licenses.license_machines set offline_until = clock_timestamp() + interval '1 minute' where license_id = $1`,
      id,
    );
    const [before] = await row();
    await service.activate(key, ana);
    const [after] = await row();
    expect(after?.bound_at).toBe(before?.bound_at);
    expect(after?.left).toBeGreaterThan(600);
  });

  it('is given up without costing a transfer, and without an event', async () => {
    const { key, id } = await sellLicense();
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await service.activate(key, ana)).status).toBe(200);
      expect(stateOf(await service.release(key, ana))).toEqual([200, 'unactivated', '0/2']);
    }
    await service.activate(key, ana);
    await expireLease(id);
    expect(stateOf(await service.release(key, ana))).toEqual([200, 'unactivated', '0/2']);
    const rows = await machines.world.rows<{ kind: string }>(
      'select kind from licenses.license_events where license_id = $1 order by id',
      id,
    );
    expect(rows.map(({ kind }) => kind)).toEqual(['issued', 'activated']);
    const [{ transfers } = { transfers: -1 }] = await machines.world.rows<{ transfers: number }>(
      'select transfers from licenses.licenses where id = $1',
      id,
    );
    expect(transfers).toBe(0);
  });

  it('is no guess to ask for when all are taken', async () => {
    const strict = await machines.world.start({ environment: { ...noLimits, LIMIT_KEY_FAIL: '2/3600' } });
    const { key } = await sellLicense();
    for (const machine of [ana, ben]) await strict.activate(key, machine);
    for (let turn = 0; turn < 5; turn += 1) expect((await strict.activate(key, eve)).status).toBe(409);
  });

  it('is held for as long as a certificate lives that support made', async () => {
    const { key, id } = await sellLicense();
    await service.activate(key, ana);
    expect(await license(['cert', '--machine', ana, '--for', '30d'], key)).toContain('lic1.');
    const [row] = await machines.world.rows<{ holds: boolean }>(
      `select offline_until > clock_timestamp() + interval '29 days' as holds
       from licenses.held_machines where license_id = $1`,
      id,
    );
    expect(row).toEqual({ holds: true });
  });

  it('is lent to the machine that support moves it to, whether that comes or not', async () => {
    const { key, id } = await sellLicense();
    await service.activate(key, ana);
    expect(await license(['transfer', '--machine', ben, '--force'], key)).toContain('1 of 2');
    expect(await heldMachineHints(id)).toEqual(['…0002']);
    await expireLease(id);
    expect(await heldMachineHints(id)).toEqual([]);
    expect(await license(['show'], key)).toMatch(/unactivated[^]*lease {6}900 seconds at a time/);
  });
});

describe('a plan', () => {
  it('lends for as long as it says; what was sold keeps that', async () => {
    await license(['plan', 'set', 'lab', '--perpetual', '--lease', '1h']);
    expect(await license(['plan', 'list'])).toMatch(/lab +perpetual +1 +3600 seconds/);
    const { key } = await machines.world.issue({ plan: 'lab', term: undefined });
    await license(['plan', 'set', 'lab', '--no-lease']);
    const answer = await service.activate(key, ana);
    expect(certificateIn(answer.headers.get('license-certificate') ?? '')).toMatchObject({ lease: 3_600 });
    const other = await machines.world.issue({ plan: 'lab', term: undefined });
    const kept = await service.activate(other.key, ana);
    expect(certificateIn(kept.headers.get('license-certificate') ?? '')).not.toHaveProperty('lease');
  });

  it.each(['59s', '32d', 'soon'])('cannot lend for %s', async (span) => {
    expect(await license(['plan', 'set', 'wrong', '--perpetual', '--lease', span])).toMatch(
      /^failed: .*span/s,
    );
  });
});

describe('a program', () => {
  const started = async (key: string): Promise<InstalledClient> => {
    const client = machines.install();
    expect(await client.activate(key)).toMatchObject({ mayRun: true });
    return client;
  };

  it('that slept too long takes a slot again where one is free, without its key', async () => {
    const { key, id } = await sellLicense();
    const client = await started(key);
    await expireLease(id);
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
    await expireLease(id);
    for (const machine of [ben, eve]) expect((await service.activate(key, machine)).status).toBe(200);
    expect(await client.check()).toMatchObject({ mayRun: false, reason: 'slots_taken', isFinal: false });
    expect(await client.checkOffline()).toMatchObject({ mayRun: false });
    await service.release(key, eve);
    expect(await client.check()).toMatchObject({ mayRun: true, by: 'service' });
  });

  it('that watches keeps its slot from lease to lease', async () => {
    const { key, id } = await sellLicense();
    await machines.world.rows('update licenses.licenses set lease_seconds = 3 where id = $1', id);
    const client = await started(key);
    const ends = () =>
      machines.world.rows<{ at: string }>(
        'select offline_until as at from licenses.license_machines where license_id = $1',
        id,
      );
    const [first] = await ends();
    const told: boolean[] = [];
    const failures: unknown[] = [];
    const stop = client.watch(
      (standing) => told.push(standing.mayRun),
      (error) => failures.push(error),
    );
    try {
      const goal = new Date(first?.at ?? '').getTime() + 3_000;
      await waitUntil(async () => new Date((await ends())[0]?.at ?? '').getTime() >= goal);
    } finally {
      stop();
    }
    expect([told.every(Boolean), failures]).toEqual([true, []]);
  });
});
