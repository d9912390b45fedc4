/** Starts several Redis servers for a spec: a cluster, and a master with a replica that sentinels watch. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type SpecRedis, startSpecRedis } from './redis.ts';
import { waitUntil } from './until.ts';

export interface RedisCluster {
  /** All servers, in the form of REDIS_URL for a cluster. */
  readonly url: string;
  readonly servers: readonly SpecRedis[];
  stop(): Promise<void>;
}

const hashSlotCount = 16_384;
/** The polling interval while the servers discover each other, ten times a second. */
const meetIntervalMillis = 100;

/** Starts a cluster of three masters that share the hash slots, without replicas. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-redis-cluster-'));
  const start = (name: number): Promise<SpecRedis> =>
    startSpecRedis([
      ...['--cluster-enabled', 'yes', '--cluster-config-file', path.join(folder, `nodes-${name}.conf`)],
      ...['--cluster-node-timeout', '2000'],
    ]);
  const servers = await Promise.all([start(0), start(1), start(2)]);
  const [first, ...others] = servers;
  const share = Math.ceil(hashSlotCount / servers.length);
  for (const [index, server] of servers.entries()) {
    const own = Array.from(
      { length: Math.min(share, hashSlotCount - index * share) },
      (_, at) => index * share + at,
    );
    // Assigns the hash slots to the servers. Each server gets its own config epoch, so that it keeps its
    // slots when the servers form a cluster.
    await server.sendCommand(`CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    await server.sendCommand(`CLUSTER ADDSLOTS ${own.join(' ')}`);
  }
  await waitUntil(async () => {
    // Repeats the request to join the cluster, because a busy machine may answer it too late.
    for (const { port } of others) await first.sendCommand(`CLUSTER MEET 127.0.0.1 ${port}`);
    await pause(meetIntervalMillis);
    const states = await Promise.all(servers.map((server) => server.sendCommand('CLUSTER INFO')));
    return states.every(
      (state) => state.includes('cluster_state:ok') && state.includes(`cluster_size:${servers.length}`),
    );
  });
  return {
    url: `redis://${servers.map(({ port }) => `127.0.0.1:${port}`).join()}`,
    servers,
    stop: async () => {
      await Promise.all(servers.map((server) => server.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface WatchedRedis {
  /** The sentinels and the name of the group, in the form of REDIS_URL. */
  readonly url: string;
  readonly master: SpecRedis;
  readonly replica: SpecRedis;
  stop(): Promise<void>;
}

/**
 * The time after which a server counts as down. It is longer than a busy machine takes to answer, and shorter
 * than a spec waits.
 */
const downAfterMillis = 2_000;

/**
 * Starts a master with a replica, and three sentinels, two of which have to agree that the master is down.
 */
export async function startWatchedRedis(name = 'muster'): Promise<WatchedRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), 'muster-redis-sentinels-'));
  const master = await startSpecRedis();
  const replica = await startSpecRedis(['--replicaof', '127.0.0.1', String(master.port)]);
  await waitUntil(async () =>
    (await replica.sendCommand('INFO replication')).includes('master_link_status:up'),
  );
  const startSentinel = async (index: number): Promise<SpecRedis> => {
    const file = path.join(folder, `sentinel-${index}.conf`);
    const lines = [
      `sentinel monitor ${name} 127.0.0.1 ${master.port} 2`,
      `sentinel down-after-milliseconds ${name} ${downAfterMillis}`,
      `sentinel failover-timeout ${name} 10000`,
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    return startSpecRedis(['--sentinel'], [file]);
  };
  const sentinels = await Promise.all([startSentinel(0), startSentinel(1), startSentinel(2)]);
  await waitUntil(async () => {
    const known = await Promise.all(sentinels.map((one) => one.sendCommand('INFO sentinel')));
    return known.every((text) => text.includes('slaves=1,sentinels=3'));
  });
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join()}/${name}`,
    master,
    replica,
    stop: async () => {
      await Promise.all([master, replica, ...sentinels].map((server) => server.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
