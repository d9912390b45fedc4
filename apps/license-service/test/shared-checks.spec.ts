/** Tests that checks share a few pipelined connections without affecting each other. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type Pool } from '@muster/driver';
import {
  type HttpAnswer,
  type LicenseWorld,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

const machine = 'machine-of-ana-0001';
const concurrentCalls = 48;
const slowSeconds = 3;

let world: LicenseWorld;
let service: RunningService;
let pool: Pool;
beforeAll(async () => {
  world = await openLicenseWorld();
  pool = createPool({ url: world.url, role: 'muster_licenses', max: 10, connectTimeoutMillis: 10_000 });
  service = await world.start({ pool });
});
afterAll(() => world.close());

const activateLicense = async () => {
  const license = await world.issue();
  await service.activate(license.key, machine);
  return license;
};

/** Runs a statement before each check of this license. A machine must hold the license. */
async function before(id: string, statement: string): Promise<void> {
  await world.owner.query(
    `create or replace function licenses.interrupt(license uuid) returns boolean language plpgsql as
     $$ begin if license = '${id}' then ${statement}; end if; return true; end $$`,
  );
  const [view] = await world.rows<{ text: string }>(
    `select pg_get_viewdef('licenses.held_machines'::regclass) as text`,
  );
  const text = view?.text.replace(/;$/, '') ?? '';
  if (text.includes('interrupt')) return;
  await world.owner.query(
    `create or replace view licenses.held_machines as ${text} and licenses.interrupt(m.license_id)`,
  );
}

const checkFactsOf = ({ status, json }: HttpAnswer) => [status, json['valid'], json['active']];

describe('checks at once', () => {
  it('are each answered for their own key and machine, and want no connection each', async () => {
    const licenses = await world.issueMany(concurrentCalls);
    await Promise.all(
      licenses.slice(0, concurrentCalls / 2).map(({ key }) => service.activate(key, machine)),
    );
    // The slow check occupies the only connection. A second check passes only if it shares this connection.
    const slow = await activateLicense();
    await before(slow.id, 'perform pg_sleep(1)');
    const only = createPool({
      url: world.url,
      role: 'muster_licenses',
      max: 1,
      connectTimeoutMillis: 20_000,
    });
    const alone = await world.start({ pool: only });
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, only.waitingCount)), 2);
    const [late, ...answers] = await Promise.all(
      [slow, ...licenses].map(({ key }) => alone.check(key, machine)),
    );
    clearInterval(watching);
    expect(late && checkFactsOf(late)).toEqual([200, true, true]);
    expect(answers.map(checkFactsOf)).toEqual(
      licenses.map((_, index) => (index < concurrentCalls / 2 ? [200, true, true] : [200, false, false])),
    );
    expect(most).toBeLessThan(2);
    await alone.stop();
  });

  it('do not fail with one that takes long, and those that come later do not wait for it', async () => {
    const [slow, quick] = [await activateLicense(), await activateLicense()];
    await before(slow.id, `perform pg_sleep(${slowSeconds})`);
    let isOver = false;
    const late = service.check(slow.key, machine).finally(() => {
      isOver = true;
    });
    const some = () => Promise.all(Array.from({ length: 8 }, () => service.check(quick.key, machine)));
    // Some of the checks may be pipelined behind the slow one before the slow one passes the limit for slow
    // reads.
    const withIt = some();
    await pause(100);
    const later = await some();
    expect(isOver).toBe(false);
    expect([...(await withIt), ...later, await late].map(checkFactsOf)).toEqual(
      Array(17).fill([200, true, true]),
    );
  });

  it('do not fail with one that fails', async () => {
    const [bad, good] = [await activateLicense(), await activateLicense()];
    await before(bad.id, `raise exception 'this one fails'`);
    const answers = await Promise.all(
      Array.from({ length: concurrentCalls }, (_, index) =>
        service.check((index % 8 === 3 ? bad : good).key, machine),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: concurrentCalls }, (_, index) => (index % 8 === 3 ? 500 : 200)),
    );
  });

  it('are asked to come again where their connection is lost, and go on with another', async () => {
    const { key } = await activateLicense();
    const lost = Array.from({ length: 20 }, () => service.check(key, machine));
    await world
      .rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and usename = current_user`,
      )
      .catch(() => undefined);
    for (const { status } of await Promise.all(lost)) expect([200, 503]).toContain(status);
    // The next check may use an idle connection that was lost, and answers 503 in that case. So the check is
    // repeated until it succeeds.
    await waitUntil(async () => (await service.check(key, machine)).status === 200);
    expect(checkFactsOf(await service.check(key, machine))).toEqual([200, true, true]);
  });
});
