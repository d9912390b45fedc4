/** A worker stops on SIGTERM, even if Redis no longer responds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type SpecRedis, programEnvironment, startSpecRedis, waitUntil, useWorld } from '@muster/testing';
import { bundleFileOf } from '@muster/testing/bundles';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');
const world = useWorld({});
let redis: SpecRedis;
let folder: string;

beforeAll(async () => {
  redis = await startSpecRedis();
  folder = await mkdtemp(path.join(tmpdir(), 'muster-mail-'));
});
afterAll(async () => {
  redis.resume();
  await redis.kill();
  await rm(folder, { recursive: true });
});

const conditions: [string, () => Promise<void>, () => Promise<void>][] = [
  ['is up', async () => undefined, async () => undefined],
  ['hangs', async () => redis.suspend(), async () => redis.resume()],
  ['is dead', () => redis.kill(), () => redis.restart()],
];

it.each(conditions)('when Redis %s', async (_word, begin, end) => {
  const worker = spawn(process.execPath, [bundleFileOf('apps/delivery-worker/src/main.ts')], {
    cwd: workspaceRoot,
    env: {
      ...{ ...programEnvironment(), PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
      ...{ DATABASE_URL: world.database.url, REDIS_URL: redis.url },
      ...{ BASE_URL: 'https://muster.example', MAIL_FOLDER: folder },
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(worker, 'exit');
  try {
    // The worker is ready when its queues have their schedule.
    await waitUntil(async () => (await redis.sendCommand('KEYS {muster}:*:repeat*')).includes('canary'));
    await begin();
    worker.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  } finally {
    worker.kill('SIGKILL');
    await end();
    await redis.sendCommand('FLUSHALL');
  }
});
