/** Without Redis, the worker still sweeps leases, using only Postgres and its clock. */
import { tmpdir } from 'node:os';
import { expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { useWorld } from '@muster/testing';
import { pino } from 'pino';
import { createDeliveryWorker } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { waitUntil } from './line.ts';

const world = useWorld({});

it('notes a lease that ends while it runs', async () => {
  const { orgId, ana } = await world.org();
  const [projectId, groupId] = [newId(), newId()];
  await world.rows(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
    orgId,
    projectId,
  );
  await world.rows(
    `insert into delivery_groups (org_id, id, project_id, name, merge_strategy) values ($1, $2, $3, 'Login', 'per_story')`,
    orgId,
    groupId,
    projectId,
  );
  await world.rows(
    `insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id, ttl_seconds, expires_at)
     values ($1, 'coordination', $2, $3, 'held', 1, sha256('x'), '{"name": "Ana"}', $4, 5, clock_timestamp() + interval '1 second')`,
    orgId,
    groupId,
    projectId,
    ana.me.memberId,
  );
  const environment = {
    DATABASE_URL: world.database.url,
    // No Redis listens here.
    REDIS_URL: 'redis://127.0.0.1:1',
    BASE_URL: 'https://muster.example',
    MAIL_FOLDER: tmpdir(),
  };
  const worker = createDeliveryWorker(readConfig(environment), pino({ level: 'silent' }), {
    onStalledQueues: () => undefined,
  });
  const started = worker.start();
  try {
    const noted = (): Promise<object[]> =>
      world.rows<object>(`select kind from activity where org_id = $1 and kind = 'lease.expired'`, orgId);
    await waitUntil(async () => (await noted()).length > 0);
    expect(await noted()).toHaveLength(1);
  } finally {
    await worker.service.stop();
    await worker.stop();
    await started;
  }
});
