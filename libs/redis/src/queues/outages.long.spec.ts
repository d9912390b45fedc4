/** Tests queues while one of several servers fails, and the rejection of a Redis that may evict keys. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type RedisCluster,
  startRedisCluster,
  startWatchedRedis,
  waitUntil,
  type WatchedRedis,
} from '@muster/testing';
import { openQueues } from './queues.ts';
import { awaitRedis, EvictingRedis } from './connection.ts';
import { startQueueWorker } from './work.ts';

const onError = (): void => undefined;
const { signal } = new AbortController();
const mail = () =>
  ({ name: 'invitation.mail', ticket: { orgId: randomUUID(), rowId: randomUUID() } }) as const;

describe('a group whose master hangs', () => {
  let group: WatchedRedis;
  beforeAll(async () => {
    group = await startWatchedRedis();
  });
  afterAll(() => group.stop());

  it('goes on with the replica: jobs are added there and done, by connections that were open before', async () => {
    await awaitRedis(group.url, onError, signal);
    const queues = openQueues({ url: group.url, onError });
    const done = new Set<unknown>();
    const working = startQueueWorker({
      ...{ url: group.url, onError, queue: 'deliver', concurrency: 1 },
      run: async () => 'done',
      onEnd: ({ data }) => done.add((data as { rowId: string }).rowId),
    });
    const add = async (): Promise<string> => {
      const job = mail();
      await waitUntil(() =>
        queues.enqueue([job]).then(
          () => true,
          () => false,
        ),
      );
      return job.ticket.rowId;
    };
    const before = await add();
    await waitUntil(() => done.has(before));

    // The hung server keeps its connections open, so only the sentinels can lead clients away from it.
    group.master.suspend();
    await waitUntil(async () =>
      (await group.replica.sendCommand('INFO replication')).includes('role:master'),
    );
    const after = await add();
    await waitUntil(() => done.has(after));

    await working.close(1_000);
    await queues.close();
  }, 90_000);
});

describe('a cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  it.each([0, 1, 2])('is refused where one of its servers may evict: %i', async (index) => {
    const server = cluster.servers[index];
    await expect(awaitRedis(cluster.url, onError, signal)).resolves.toBeUndefined();
    await server?.sendCommand('CONFIG SET maxmemory-policy allkeys-lru');
    await expect(awaitRedis(cluster.url, onError, signal)).rejects.toThrow(EvictingRedis);
    await server?.sendCommand('CONFIG SET maxmemory-policy noeviction');
  });

  it('is found by any of its servers', async () => {
    const [, second] = cluster.servers;
    const url = `redis+cluster://127.0.0.1:${second?.port ?? ''}`;
    await expect(awaitRedis(url, onError, signal)).resolves.toBeUndefined();
  });

  it('that is away fails those who add, and is waited for by those who start', async () => {
    const queues = openQueues({ url: cluster.url, onError });
    await waitUntil(() =>
      queues.enqueue([mail()]).then(
        () => true,
        () => false,
      ),
    );
    for (const server of cluster.servers) await server.kill();
    await expect(queues.enqueue([mail()])).rejects.toThrow();
    await queues.close();

    const errors: Error[] = [];
    const waiting = awaitRedis(cluster.url, (error) => errors.push(error), signal);
    await waitUntil(() => errors.length > 0);
    for (const server of cluster.servers) await server.restart();
    await expect(waiting).resolves.toBeUndefined();
  });
});
