/** Of many machines that race for a key one gets it; the test proves that it can see two. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPool, type Pool } from '@muster/database';
import { patient } from '@muster/testing';
import { type Answer, type LicenseWorld, openLicenseWorld, type Running, until } from './world.ts';

let world: LicenseWorld;
beforeAll(async () => {
  world = await openLicenseWorld();
});
afterAll(() => world.close());

const keys = 30;
const machines = 12;

/** With the rows of the licenses locked until some wait for theirs: whatever the machine does, they meet. */
async function together<Result>(start: () => Promise<Result>): Promise<Result> {
  const holder = await world.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from licenses.licenses for update');
    const outcome = start();
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await until(async () => (await world.rows(waits)).length > 2);
    await holder.query('rollback');
    return await outcome;
  } finally {
    holder.release(true);
  }
}

/** For each key, the machines that were let in. */
async function race(service: Running): Promise<Set<string>[]> {
  const licenses = await world.issueMany(keys);
  const winners: Set<string>[] = [];
  for (const { key } of licenses) {
    const answers = await together(() =>
      Promise.all(
        Array.from({ length: machines * 2 }, async (_, index): Promise<[string, Answer]> => {
          const machine = `machine-${index % machines}`;
          return [machine, await service.activate(key, machine)];
        }),
      ),
    );
    const strange = answers.filter(([, { status }]) => status !== 200 && status !== 409);
    if (strange.length > 0) throw new Error(`answered ${strange[0]?.[1].status}: ${strange[0]?.[1].text}`);
    winners.push(new Set(answers.filter(([, { status }]) => status === 200).map(([machine]) => machine)));
  }
  return winners;
}

it('lets exactly one machine have each key, and that one every time', async () => {
  const winners = await race(await world.start());
  expect(winners.map(({ size }) => size)).toEqual(Array.from({ length: keys }, () => 1));
  const rows = await world.rows<{ activations: number }>(
    `select count(*)::int as activations from licenses.license_events where kind = 'activated' group by license_id`,
  );
  expect(rows.every(({ activations }) => activations === 1)).toBe(true);
});

/** The pool of a service whose statement does not lock what it decides by. */
function unlocked(url: string): Pool {
  const pool = patient(createPool({ url, role: 'muster_licenses', max: 10 }));
  const send = pool.query.bind(pool);
  const rewritten = (query: unknown): unknown => {
    if (typeof query !== 'object' || query === null || !('text' in query) || typeof query.text !== 'string')
      return query;
    if (!('name' in query) || query.name !== 'activate') return query;
    const text = query.text.replace('for no key update', '');
    if (text === query.text) throw new Error('the statement has no lock to take out');
    return { ...query, text };
  };
  // The overloads of query are pg's; what goes in and comes out is the same.
  pool.query = ((query: never, ...rest: never[]) =>
    send(rewritten(query) as never, ...rest)) as typeof pool.query;
  return pool;
}

it('would see it if several were let in: without the lock several are', async () => {
  const winners = await race(await world.start({ pool: unlocked(world.url) }));
  expect(winners.some(({ size }) => size > 1)).toBe(true);
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
    await until(async () => (await world.rows(waits)).length > 0);
    const over = 'select from licenses.licenses where id = $1 and expires_at < clock_timestamp()';
    await until(async () => (await world.rows(over, id)).length > 0);
    await holder.query('rollback');
    const answer = await asking;
    expect([answer.status, answer.headers.get('license-state')]).toEqual([403, 'expired']);
  } finally {
    holder.release(true);
  }
});
