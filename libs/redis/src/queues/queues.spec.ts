import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mastersOf, openRedis } from '../index.ts';
import { redisUrl, startRedisCluster, startWatchedRedis, waitUntil } from '@muster/testing';
import { openQueues, type Queues } from './queues.ts';
import { awaitRedis, EvictingRedis } from './connection.ts';
import { findSilentQueues } from './watch.ts';
import { rejectOnAbort, startQueueWorker } from './work.ts';

const onError = (): void => undefined;
const ticket = () => ({ orgId: randomUUID(), rowId: randomUUID() });
const schedule = {
  'retention.purge': 3_600,
  'deletions.remove': 3_600,
  'files.remove': 3_600,
  'leases.sweep': 3_600,
  'seats.reconcile': 3_600,
  'digests.request': 600,
  'tokens.warn': 3_600,
  'forge.reconcile': 3_600,
  'identityProviders.check': 3_600,
};

interface RedisTopology {
  readonly url: string;
  stop(): Promise<void>;
}

/** The kinds of Redis that REDIS_URL may name. */
const redisTopologies: readonly (readonly [string, () => Promise<RedisTopology>])[] = [
  ['one server', async () => ({ url: redisUrl(), stop: async () => undefined })],
  ['a cluster of three', startRedisCluster],
  ['a group that sentinels watch', startWatchedRedis],
];

describe.each(redisTopologies)('queues on %s', (_what, start) => {
  let place: RedisTopology;
  let url: string;
  let prefix: string;
  let queues: Queues;
  beforeAll(async () => {
    place = await start();
    url = place.url;
  });
  beforeEach(async () => {
    prefix = `{spec-${randomBytes(6).toString('hex')}}`;
    queues = openQueues({ url, prefix, onError });
    // Waits until the queues can be used. Adding a job does not wait for the first connection, and the master
    // of a sentinel group is only found by asking the sentinels.
    const { signal } = new AbortController();
    await awaitRedis(url, onError, signal);
    await waitUntil(() =>
      queues.waiting().then(
        () => true,
        () => false,
      ),
    );
  });
  afterEach(async () => {
    for (const queue of queues.all) await queue.obliterate({ force: true });
    await queues.close();
  });
  afterAll(() => place.stop());

  it('take the same row once while it lies there, and each job into its queue', async () => {
    const mail = { name: 'invitation.mail', ticket: ticket() } as const;
    await queues.enqueue([mail, mail, { name: 'event', ticket: ticket() }]);
    await queues.enqueue([mail]);
    expect(await queues.waiting()).toEqual({
      deliver: 1,
      sync: 1,
      upkeep: 0,
      leases: 0,
      billing: 0,
      exports: 0,
    });
  });

  it('keep nothing of a job that ended, so that its row can come again', async () => {
    const mail = { name: 'invitation.mail', ticket: ticket() } as const;
    const ended: string[] = [];
    const settled = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const working = startQueueWorker({
      url,
      prefix,
      onError,
      queue: 'deliver',
      concurrency: 1,
      run: async () => {
        if (ended.length === 0) throw new Error('the first attempt');
        return 'done';
      },
      onEnd: ({ outcome }) => {
        settled[ended.push(outcome) - 1]?.resolve(undefined);
      },
    });
    await queues.enqueue([mail]);
    await settled[0]?.promise;
    while ((await queues.counts()).deliver.active > 0) await pause(5);
    await queues.enqueue([mail]);
    await settled[1]?.promise;
    await working.close(5_000);
    expect(ended).toEqual(['failed', 'done']);
    expect((await queues.counts()).deliver).toEqual({ waiting: 0, active: 0, delayed: 0, failed: 0 });
  });

  it('share one slot of a cluster', async () => {
    await queues.enqueue([{ name: 'event', ticket: ticket() }]);
    const redis = openRedis(url, { waitsWhileUnreachable: true });
    await redis.ping();
    const found = await Promise.all(
      mastersOf(redis).map((master) => master.keys(`*${prefix.slice(1, -1)}*`)),
    );
    redis.disconnect();
    expect(found.filter((keys) => keys.length > 0)).toHaveLength(1);
    expect(found.flat().filter((key) => !key.startsWith(`${prefix}:`))).toEqual([]);
  });

  it('are not moved by a schedule that is kept again, and get it back when it was lost', async () => {
    const upkeep = queues.all.find((queue) => queue.name === 'upkeep');
    await queues.ensureSchedule(schedule);
    const first = await upkeep?.getJobScheduler('retention.purge');
    await queues.ensureSchedule(schedule);
    expect(await upkeep?.getJobScheduler('retention.purge')).toEqual(first);
    await queues.ensureSchedule({ ...schedule, 'retention.purge': 60 });
    expect(await upkeep?.getJobScheduler('retention.purge')).toMatchObject({ every: 60_000 });
    expect(await queues.isOnSchedule('retention.purge')).toBe(true);
    await upkeep?.removeJobScheduler('retention.purge');
    expect(await queues.isOnSchedule('retention.purge')).toBe(false);
    await queues.ensureSchedule(schedule);
    expect(await upkeep?.getJobScheduler('retention.purge')).toMatchObject({ every: 3_600_000 });
  });

  it('come again in time after a worker whose clock was a year ahead had set when', async () => {
    const upkeep = queues.all.find((queue) => queue.name === 'upkeep');
    const every = 3_600_000;
    const inAYear = Date.now() + 365 * 86_400_000;
    await upkeep?.upsertJobScheduler('retention.purge', { every, startDate: inAYear });
    expect((await upkeep?.getJobScheduler('retention.purge'))?.next).toBeGreaterThanOrEqual(inAYear);
    expect(await queues.isOnSchedule('retention.purge')).toBe(false);
    await queues.ensureSchedule(schedule);
    expect((await upkeep?.getJobScheduler('retention.purge'))?.next).toBeLessThanOrEqual(Date.now() + every);
    const all = (await upkeep?.getJobs(['waiting', 'delayed'])) ?? [];
    expect(all.filter(({ name }) => name === 'retention.purge')).toHaveLength(1);
  });
});

describe('a Redis that may evict', () => {
  const url = redisUrl();

  it('is refused', async () => {
    const target = new URL(url);
    const policy = 'noeviction';
    // A proxy to the real server that replaces the name of its policy by one of the same length.
    const server = createServer((here) => {
      const there = connect(Number(target.port), target.hostname);
      const say = new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          done(null, Buffer.from(chunk.toString('latin1').replace(policy, 'some-other'), 'latin1'));
        },
      });
      there.pipe(say).pipe(here);
      here.pipe(there);
      for (const socket of [here, there]) {
        socket.on('error', () => undefined);
        socket.on('close', () => {
          here.destroy();
          there.destroy();
        });
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const evicting = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { signal } = new AbortController();
    await expect(awaitRedis(evicting, onError, signal)).rejects.toThrow(EvictingRedis);
    await expect(awaitRedis(url, onError, signal)).resolves.toBeUndefined();
    server.close();
  });

  it('need not be waited for', async () => {
    const stop = new AbortController();
    const waiting = awaitRedis('redis://127.0.0.1:1', onError, stop.signal);
    stop.abort();
    await expect(waiting).rejects.toThrow();
  });
});

describe('within', () => {
  it('answers as the work does, or fails when the time is up', async () => {
    const time = new AbortController();
    expect(await rejectOnAbort(time.signal, Promise.resolve(1))).toBe(1);
    await expect(rejectOnAbort(time.signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
    const endless = rejectOnAbort(time.signal, new Promise(() => undefined));
    time.abort();
    await expect(endless).rejects.toThrow('the job exceeded its time limit');
    await expect(rejectOnAbort(time.signal, new Promise(() => undefined))).rejects.toThrow('time limit');
  });
});

describe('silence', () => {
  const waiting = (deliver: number) => ({
    waiting: async () => ({ deliver, sync: 0, upkeep: 0, leases: 0, billing: 0, exports: 0 }),
  });
  const worker = (lastSign: number, isBusy = false) => ({
    queue: 'deliver' as const,
    lastActivityMillis: () => lastSign,
    isBusy: () => isBusy,
    close: async () => undefined,
  });
  const now = 1_000_000;

  it.each([
    ['work waits and nothing was done for long', worker(now - 121_000), 1, ['deliver']],
    ['nothing waits', worker(now - 121_000), 0, []],
    ['something was done lately', worker(now - 119_000), 1, []],
    ['all hands are full', worker(now - 121_000, true), 1, []],
  ])('counts where %s', async (_when, one, inQueue, silent) => {
    expect(await findSilentQueues([one], waiting(inQueue), now)).toEqual(silent);
  });

  it('is no fault of the worker while Redis is away', async () => {
    const away = { waiting: () => Promise.reject(new Error('away')) };
    expect(await findSilentQueues([worker(0)], away, now)).toEqual([]);
  });
});
