/** Tests that activations share a few pipelined connections without affecting each other. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool } from '@muster/driver';
import { withTestTimeouts } from '@muster/testing';
import {
  type HttpAnswer,
  type LicenseWorld,
  openLicenseWorld,
  type RunningService,
  waitUntil,
} from './world.ts';

const machine = 'machine-of-ana-0001';
const concurrentCalls = 48;

let world: LicenseWorld;
let service: RunningService;
beforeAll(async () => {
  world = await openLicenseWorld();
  const pool = withTestTimeouts(createPool({ url: world.url, role: 'muster_licenses', max: 20 }));
  service = await world.start({ pool });
});
afterAll(() => world.close());

const keyIn = ({ json }: HttpAnswer) => (json['license'] as { key: string } | undefined)?.key;

describe('activations at once', () => {
  it('are each answered for their own key, and noted once', async () => {
    const licenses = await world.issueMany(concurrentCalls);
    const answers = await Promise.all(licenses.map(({ key }) => service.activate(key, machine)));
    expect(answers.map(keyIn)).toEqual(licenses.map(({ key }) => key));
    const rows = await world.rows(
      `select license_id from licenses.license_events where kind = 'activated' and license_id = any($1)`,
      licenses.map(({ id }) => id),
    );
    expect(rows).toHaveLength(concurrentCalls);
  });

  it('do not wait for one that came before them, and whose license another transaction has locked', async () => {
    const [locked, ...others] = await world.issueMany(9);
    const holder = await world.owner.connect();
    try {
      await holder.query('begin');
      await holder.query('select from licenses.licenses where id = $1 for update', [locked?.id]);
      let isOver = false;
      const late = service.activate(locked?.key ?? '', machine).finally(() => {
        isOver = true;
      });
      const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      await waitUntil(async () => (await world.rows(waits)).length > 0);
      // Waits until the blocked activation has passed the limit for slow writes.
      await pause(20);
      const answers = await Promise.all(others.map(({ key }) => service.activate(key, machine)));
      expect([isOver, answers.map(({ status }) => status)]).toEqual([false, Array(8).fill(200)]);
      await holder.query('rollback');
      expect((await late).status).toBe(200);
    } finally {
      holder.release(true);
    }
  });

  it('do not fail with one that fails', async () => {
    const [bad, ...good] = await world.issueMany(concurrentCalls);
    await world.owner.query(
      `create function licenses.fail() returns trigger language plpgsql as $$ begin raise exception 'this one fails'; end $$;
       create trigger fail before insert on licenses.license_machines for each row
         when (new.license_id = '${bad?.id}') execute function licenses.fail()`,
    );
    const asked = good.flatMap((license, index) => (index % 6 === 3 ? [license, bad] : [license]));
    const answers = await Promise.all(
      asked.map(async (license) => [license === bad, await service.activate(license?.key ?? '', machine)]),
    );
    for (const [isBad, answer] of answers as [boolean, HttpAnswer][])
      expect([isBad, answer.status]).toEqual([isBad, isBad ? 500 : 200]);
    await world.owner.query('drop trigger fail on licenses.license_machines');
  });
});
