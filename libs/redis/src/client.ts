/** A connection to Redis, whatever Redis is made of. */
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { type ClusterAddress, parseRedisUrl, type SentinelAddress } from './address.ts';

export type RedisClient = Redis | Cluster;

export interface Manner {
  /** True: commands wait for a Redis that is away. False: they fail, of a cluster within half a second. */
  readonly waits: boolean;
  /** After this a command has failed, whatever becomes of it; never unless told. */
  readonly commandTimeout?: number;
  /** How long a connection that is ended may take to close, in milliseconds. */
  readonly disconnectTimeout?: number;
}

const connectTimeout = 5_000;
/** A sentinel that hangs is left for the next one. */
const sentinelCommandTimeout = 2_000;
/** Where a server hangs, this is how it is seen that another one has its slots. */
const slotsRefreshInterval = 5_000;
/** A redirection, and an attempt or two at a server that is just being connected to. */
const impatientRedirections = 4;

const backOff = (attempt: number): number => Math.min(attempt * 100, 2_000);

/**
 * Opens what REDIS_URL names; connecting goes on in the background, and again after each loss. The caller listens to
 * `error`, and ends it with disconnect().
 */
export function openRedis(url: string, manner: Manner): RedisClient {
  const address = parseRedisUrl(url);
  const common = {
    connectTimeout,
    maxRetriesPerRequest: manner.waits ? null : 0,
    ...(manner.commandTimeout !== undefined && { commandTimeout: manner.commandTimeout }),
    ...(manner.disconnectTimeout !== undefined && { disconnectTimeout: manner.disconnectTimeout }),
  };
  const single = { ...common, enableOfflineQueue: manner.waits, retryStrategy: backOff };
  switch (address.kind) {
    case 'server':
      return new Redis(address.url, single);
    case 'sentinel':
      return new Redis({ ...single, ...groupOf(address) });
    case 'cluster':
      return new Cluster([...address.hosts], {
        enableOfflineQueue: manner.waits,
        clusterRetryStrategy: backOff,
        slotsRefreshInterval,
        ...(!manner.waits && { maxRedirections: impatientRedirections }),
        ...serversOf(address, common),
      });
  }
}

function groupOf({ hosts, tls, name, db, ...logins }: SentinelAddress) {
  const { username, password, sentinelUsername, sentinelPassword } = logins;
  return {
    ...{ sentinels: hosts.map((host) => ({ ...host })), name, db, sentinelCommandTimeout },
    sentinelRetryStrategy: backOff,
    // A master that hangs keeps its connections: the sentinels say that another one is it.
    failoverDetector: true,
    sentinelReconnectStrategy: backOff,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  } satisfies RedisOptions;
}

function serversOf<Common>({ username, password, tls }: ClusterAddress, common: Common) {
  return {
    redisOptions: {
      ...common,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    },
    // A certificate names the host, not the address that it has today.
    ...(tls && { dnsLookup: (host, done) => done(null, host) }),
  } satisfies ClusterOptions;
}

/** The servers that are written to. Rejects where a cluster is away. */
export function mastersOf(redis: RedisClient): readonly Redis[] {
  if (redis instanceof Redis) return [redis];
  if (redis.status !== 'ready') throw new Error('the cluster is away');
  return redis.nodes('master');
}
