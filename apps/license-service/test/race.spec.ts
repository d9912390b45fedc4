/**
 * Tests that of many racing machines exactly as many win as there are slots. A further test shows that one
 * winner more would be noticed.
 */
import { type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type Pool } from '@muster/driver';
import { withTestTimeouts } from '@muster/testing';
import {
  type HttpAnswer,
  type LicenseWorld,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

let world: LicenseWorld;
beforeAll(async () => {
  world = await openLicenseWorld();
});
afterAll(() => world.close());

const machines = 12;

/** The races: the number of slots per license, and the number of licenses for which machines race. */
const races = [
  { slots: 1, keys: 30 },
  { slots: 3, keys: 12 },
];

/** Locks the licenses until some calls wait for them, so that the calls always race, even on a slow machine. */
async function runConcurrently<Result>(start: () => Promise<Result>): Promise<Result> {
  const holder = await world.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from licenses.licenses for update');
    const outcome = start();
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await waitUntil(async () => (await world.rows(waits)).length > 2);
    await holder.query('rollback');
    return await outcome;
  } finally {
    holder.release(true);
  }
}

interface RaceResult {
  /** The machines that won a slot, as a set per license key. */
  readonly winners: Set<string>[];
  /** The statuses of answers other than 200 and 409. */
  readonly unexpectedStatuses: number[];
}

async function race(service: RunningService, { slots, keys }: (typeof races)[number]): Promise<RaceResult> {
  const licenses = await world.issueMany(keys, { machineLimit: slots });
  const raced: RaceResult = { winners: [], unexpectedStatuses: [] };
  for (const { key } of licenses) {
    const answers = await runConcurrently(() =>
      Promise.all(
        Array.from({ length: machines * 2 }, async (_, index): Promise<[string, HttpAnswer]> => {
          const machine = `machine-${index % machines}`;
          return [machine, await service.activate(key, machine)];
        }),
      ),
    );
    raced.unexpectedStatuses.push(
      ...answers.map(([, { status }]) => status).filter((status) => status !== 200 && status !== 409),
    );
    raced.winners.push(
      new Set(answers.filter(([, { status }]) => status === 200).map(([machine]) => machine)),
    );
  }
  return raced;
}

it.each(races)('lets exactly $slots of $keys keys’ machines in, and those every time', async (sizes) => {
  const before = await world.rows<{ id: string }>('select id from licenses.licenses');
  const { winners, unexpectedStatuses: strange } = await race(await world.start(), sizes);
  expect(strange).toEqual([]);
  expect(winners.map(({ size }) => size)).toEqual(Array.from({ length: sizes.keys }, () => sizes.slots));
  const rows = await world.rows<{ activations: number; machines: number }>(
    `select (select count(*)::int from licenses.license_events where license_id = l.id and kind = 'activated') as activations,
       (select count(*)::int from licenses.held_machines where license_id = l.id) as machines
     from licenses.licenses l where id <> all($1::uuid[])`,
    before.map(({ id }) => id),
  );
  expect(rows).toEqual(
    Array.from({ length: sizes.keys }, () => ({ activations: sizes.slots, machines: sizes.slots })),
  );
});

it('lets as many in as are free while others give theirs up', async () => {
  const service = await world.start();
  const { key, id } = await world.issue({ machineLimit: 3, transferLimit: 1_000 });
  const holders = ['holder-1', 'holder-2', 'holder-3'];
  for (const holder of holders) expect((await service.activate(key, holder)).status).toBe(200);
  const [released, ...answers] = await runConcurrently(() =>
    Promise.all([
      service.release(key, 'holder-2'),
      ...Array.from({ length: machines }, (_, index) => service.activate(key, `machine-${index}`)),
    ]),
  );
  expect(released.status).toBe(200);
  const [row] = await world.rows(
    'select count(*)::int as n from licenses.held_machines where license_id = $1',
    id,
  );
  const letIn = answers.filter(({ status }) => status === 200).length;
  // One machine wins the released slot. No machine wins it if all of them asked before the release.
  expect(letIn).toBeLessThanOrEqual(1);
  expect(row).toEqual({ n: 2 + letIn });
});

it('lets no more in than there are slots when those that are lent have just come to their end', async () => {
  const service = await world.start();
  const { key, id } = await world.issue({ machineLimit: 3 });
  await world.rows('update licenses.licenses set lease_seconds = 900 where id = $1', id);
  for (const holder of ['holder-1', 'holder-2', 'holder-3']) await service.activate(key, holder);
  await world.rows(
    `update licenses.license_machines set offline_until = clock_timestamp() - interval '1 second' where license_id = $1`,
    id,
  );
  const answers = await runConcurrently(() =>
    Promise.all(Array.from({ length: machines }, (_, index) => service.activate(key, `machine-${index}`))),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([
    ...Array.from({ length: 3 }, () => 200),
    ...Array.from({ length: 9 }, () => 409),
  ]);
});

/** Creates a pool that removes the row lock from statements on the wire, to prove that the test detects its absence. */
function createUnlockedPool(url: string): Pool {
  const pool = withTestTimeouts(createPool({ url, role: 'muster_licenses', max: 10 }));
  const lock = 'for no key update';
  pool.on('connect', (client) => {
    const { stream } = (client as typeof client & { connection: { stream: Socket } }).connection;
    const write = stream.write.bind(stream) as (bytes: Buffer) => boolean;
    stream.write = (bytes: Buffer | string) => {
      const text = Buffer.from(bytes).toString('latin1');
      if (text.includes('licenses.hold_slot') && !text.includes(lock))
        throw new Error('the statement has no lock to take out');
      return write(Buffer.from(text.replace(lock, ' '.repeat(lock.length)), 'latin1'));
    };
  });
  return pool;
}

describe('without the lock', () => {
  it.each(races)(
    'the primary key still lets no more than $slots in, and the others get a fault',
    async (sizes) => {
      const { winners, unexpectedStatuses: strange } = await race(
        await world.start({ pool: createUnlockedPool(world.url) }),
        sizes,
      );
      expect(Math.max(...winners.map(({ size }) => size))).toBeLessThanOrEqual(sizes.slots);
      expect(strange).toContain(500);
    },
  );

  it('and without the keys of the table more are let in: these races would see it', async () => {
    await world.rows(
      'alter table licenses.license_machines drop constraint license_machines_pkey, drop constraint license_machines_license_id_machine_hash_key',
    );
    try {
      for (const sizes of races) {
        const { winners } = await race(await world.start({ pool: createUnlockedPool(world.url) }), sizes);
        expect(winners.some(({ size }) => size > sizes.slots)).toBe(true);
      }
    } finally {
      await world.rows('delete from licenses.license_machines');
      await world.rows(
        'alter table licenses.license_machines add primary key (license_id, slot), add unique (license_id, machine_hash)',
      );
    }
  });
});

it('does not let in what expires while it waits for the row', async () => {
  const service = await world.start();
  const { key, id } = await world.issue();
  const holder = await world.owner.connect();
  try {
    await world.rows(
      `update licenses.licenses set expires_at = clock_timestamp() + interval '500 ms' where id = $1`,
      id,
    );
    await holder.query('begin');
    await holder.query('select from licenses.licenses where id = $1 for update', [id]);
    const asking = service.activate(key, 'machine');
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%licenses.licenses%'
      and datname = current_database()`;
    await waitUntil(async () => (await world.rows(waits)).length > 0);
    const over = 'select from licenses.licenses where id = $1 and expires_at < clock_timestamp()';
    await waitUntil(async () => (await world.rows(over, id)).length > 0);
    await holder.query('rollback');
    const answer = await asking;
    expect([answer.status, answer.headers.get('license-state')]).toEqual([403, 'expired']);
  } finally {
    holder.release(true);
  }
});
