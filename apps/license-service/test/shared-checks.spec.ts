/** Checks are asked over the few connections that reads share, and none of them depends on another. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type Pool } from '@muster/database';
import { type Answer, type LicenseWorld, openLicenseWorld, type Running } from './world.ts';

const machine = 'machine-of-ana-0001';
const many = 48;
const slowSeconds = 1.5;

let world: LicenseWorld;
let service: Running;
let pool: Pool;
beforeAll(async () => {
  world = await openLicenseWorld();
  pool = createPool({ url: world.url, role: 'muster_licenses', max: 10, connectWithinMillis: 10_000 });
  service = await world.start({ pool });
});
afterAll(() => world.close());

const activated = async () => {
  const license = await world.issue();
  await service.activate(license.key, machine);
  return license;
};

/** Whoever asks of this license runs this first. */
async function before(id: string, statement: string): Promise<void> {
  const [found] = await world.rows<{ text: string }>(
    `select pg_get_functiondef('licenses.slots_of'::regproc) as text`,
  );
  const text = found?.text ?? '';
  const changed = text.replace(/\nbegin\n/, `\nbegin\n  if license = '${id}' then ${statement}; end if;\n`);
  expect(changed).not.toBe(text);
  await world.owner.query(changed);
}

const said = ({ status, json }: Answer) => [status, json['valid'], json['active']];

describe('checks at once', () => {
  it('are each answered for their own key and machine, over few connections', async () => {
    const licenses = await world.issueMany(many);
    await Promise.all(licenses.slice(0, many / 2).map(({ key }) => service.activate(key, machine)));
    // Those of the activations are gone, so that what is opened now is opened by checks.
    const fresh = createPool({ url: world.url, role: 'muster_licenses', max: 10 });
    const alone = await world.start({ pool: fresh });
    const answers = await Promise.all(licenses.map(({ key }) => alone.check(key, machine)));
    expect(answers.map(said)).toEqual(
      licenses.map((_, index) => (index < many / 2 ? [200, true, true] : [200, false, false])),
    );
    expect(fresh.totalCount).toBeLessThan(5);
    await alone.stop();
  });

  it('do not wait for one that takes long', async () => {
    const [slow, quick] = [await activated(), await activated()];
    await before(slow.id, `perform pg_sleep(${slowSeconds})`);
    let isOver = false;
    const late = service.check(slow.key, machine).finally(() => {
      isOver = true;
    });
    for (let times = 0; times < many; times += 1)
      expect(said(await service.check(quick.key, machine))).toEqual([200, true, true]);
    expect(isOver).toBe(false);
    expect(said(await late)).toEqual([200, true, true]);
  });

  it('do not fail with one that fails', async () => {
    const [bad, good] = [await activated(), await activated()];
    await before(bad.id, `raise exception 'this one fails'`);
    const answers = await Promise.all(
      Array.from({ length: many }, (_, index) => service.check((index % 8 === 3 ? bad : good).key, machine)),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: many }, (_, index) => (index % 8 === 3 ? 500 : 200)),
    );
  });

  it('are asked to come again where their connection is lost, and go on with another', async () => {
    const { key } = await activated();
    const lost = Array.from({ length: 20 }, () => service.check(key, machine));
    await world
      .rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and usename = current_user`,
      )
      .catch(() => undefined);
    for (const { status } of await Promise.all(lost)) expect([200, 503]).toContain(status);
    expect(said(await service.check(key, machine))).toEqual([200, true, true]);
  });
});
