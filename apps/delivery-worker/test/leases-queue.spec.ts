/** The queue `leases` records expired leases; the worker's loop does so only while Redis is unavailable. */
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { expect, it } from '@jest/globals';
import { deliveryHandlers } from '@muster/delivery';
import { newId } from '@muster/driver';
import { openQueues } from '@muster/redis/queues';
import { redisUrl, waitUntil, useWorld } from '@muster/testing';
import { pino } from 'pino';
import { createDeliveryWorker } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { arrangeBoard } from './board.ts';
import { endsIn } from './ends.ts';

const world = useWorld(deliveryHandlers);
const { acquire, timePasses, expiries } = endsIn(world);

it('notes an expiry between two runs of its schedule, and deletes expired locks, but not those of stalled work', async () => {
  const { people, projectId } = await arrangeBoard(world);
  const { orgId, ana, robo } = people;
  const { executionId } = await acquire(robo);
  await timePasses(orgId);
  await world.rows(
    `insert into locks (org_id, id, project_id, resources, mode, holder, member_id, execution_id, reason, fencing_token, expires_at)
     select $1, gen_random_uuid(), $2, array['src/**'], 'shared', '{}', $3, of_execution, reason, 1, now() - interval '1 second'
     from (values (null::uuid, 'own time'), ($4, 'stalled')) given (of_execution, reason)`,
    orgId,
    projectId,
    ana.me.memberId,
    executionId,
  );
  const prefix = `{spec-${randomBytes(6).toString('hex')}}`;
  const environment = {
    ...{ DATABASE_URL: world.database.url, REDIS_URL: redisUrl() },
    ...{ BASE_URL: 'https://muster.example', MAIL_FOLDER: tmpdir() },
  };
  const worker = createDeliveryWorker(readConfig(environment), pino({ level: 'silent' }), {
    prefix,
    onStalledQueues: () => undefined,
  });
  const queues = openQueues({ url: redisUrl(), prefix, onError: () => undefined });
  try {
    await worker.start();
    await waitUntil(async () => (await expiries(orgId)).length === 1);
    const locks = () => world.rows<object>('select reason from locks where org_id = $1', orgId);
    await waitUntil(async () => (await locks()).length === 1);
    expect(await locks()).toEqual([{ reason: 'stalled' }]);
    expect(await worker.service.metrics.registry.metrics()).toMatch(
      /muster_jobs_total\{name="leases\.sweep",outcome="done"/,
    );
  } finally {
    await worker.service.stop();
    await worker.stop();
    for (const queue of queues.all) await queue.obliterate({ force: true });
    await queues.close();
  }
});

it('runs a scheduled job once more for requests of the same time', async () => {
  const prefix = `{spec-${randomBytes(6).toString('hex')}-${newId()}}`;
  const queues = openQueues({ url: redisUrl(), prefix, onError: () => undefined });
  const anHour = 3_600_000;
  await Promise.all([queues.runAfter('leases.sweep', anHour), queues.runAfter('leases.sweep', anHour)]);
  expect((await queues.counts()).leases.delayed).toBeLessThanOrEqual(2);
  expect((await queues.counts()).leases.delayed).toBeGreaterThanOrEqual(1);
  for (const queue of queues.all) await queue.obliterate({ force: true });
  await queues.close();
});
