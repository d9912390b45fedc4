/** Redis is killed, and a worker in the middle of a sweep. Each expiry is still recorded exactly once. */
import { tmpdir } from 'node:os';
import { expect, it } from '@jest/globals';
import { deliveryHandlers } from '@muster/delivery';
import { startWatchedRedis, waitUntil, useWorld } from '@muster/testing';
import { pino } from 'pino';
import { createDeliveryWorker, type DeliveryWorker } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { arrangeBoard } from './board.ts';
import { endsIn } from './ends.ts';

const world = useWorld(deliveryHandlers);
const { acquire, timePasses, expiries } = endsIn(world);

it('notes each expiry once while Redis goes away and a worker dies', async () => {
  const redis = await startWatchedRedis();
  const begin = (): DeliveryWorker =>
    createDeliveryWorker(
      readConfig({
        ...{ DATABASE_URL: world.database.url, REDIS_URL: redis.url },
        ...{ BASE_URL: 'https://muster.example', MAIL_FOLDER: tmpdir() },
      }),
      pino({ level: 'silent' }),
      { onStalledQueues: () => undefined },
    );
  const [first, second] = [begin(), begin()];
  try {
    await Promise.all([first.start(), second.start()]);
    const { people } = await arrangeBoard(world, 3);
    const { orgId, robo } = people;
    await acquire(robo, 1);
    await timePasses(orgId);
    await waitUntil(async () => (await expiries(orgId)).length === 1);

    redis.master.suspend();
    await acquire(robo, 2);
    await timePasses(orgId);
    await waitUntil(async () => (await expiries(orgId)).length === 2);

    // The next sweep waits for a row lock that the spec holds. The spec then ends the database connection of
    // that sweep in the middle of its job.
    await acquire(robo, 3);
    const inTheWay = await world.database.owner.connect();
    try {
      await inTheWay.query('begin');
      await inTheWay.query('select from streams where org_id = $1 for update', [orgId]);
      await timePasses(orgId);
      await world.waitUntilBlocked(1);
      await world.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      await inTheWay.query('rollback');
    } finally {
      inTheWay.release();
    }
    await waitUntil(async () => (await expiries(orgId)).length === 3);
    expect(new Set((await expiries(orgId)).map((row) => row.execution_id)).size).toBe(3);
  } finally {
    for (const worker of [first, second]) {
      await worker.service.stop();
      await worker.stop();
    }
    await redis.stop();
  }
}, 120_000);
