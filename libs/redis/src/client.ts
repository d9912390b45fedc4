/** Opens a connection to a Redis server, cluster or sentinel group. */
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { type ClusterAddress, parseRedisUrl, type SentinelAddress } from './address.ts';

export type RedisClient = Redis | Cluster;

export interface RedisConnectionOptions {
  /**
   * True if commands wait while Redis is unreachable. If false, they fail; in a cluster that takes up to half
   * a second.
   */
  readonly waitsWhileUnreachable: boolean;
  /** The time in milliseconds after which a command fails in any case. There is no limit by default. */
  readonly commandTimeout?: number;
  /** The time limit for closing a connection, in milliseconds. */
  readonly disconnectTimeout?: number;
}

const connectTimeout = 5_000;
/** The time limit after which the next sentinel is asked. */
const sentinelCommandTimeout = 2_000;
/** The polling interval that detects that another server has taken over the slots of a server that hangs. */
const slotsRefreshInterval = 5_000;
/**
 * The number of attempts for a command that must not wait: enough for one redirection, and for one or two
 * attempts at a server whose connection is still opening.
 */
const maxRedirectionsWithoutWaiting = 4;

const backOffMillis = (attempt: number): number => Math.min(attempt * 100, 2_000);

/**
 * Opens the Redis that REDIS_URL names. It connects in the background, and reconnects after each loss. The
 * caller listens to `error`, and closes it with disconnect().
 */
export function openRedis(url: string, options: RedisConnectionOptions): RedisClient {
  const address = parseRedisUrl(url);
  const common = {
    connectTimeout,
    maxRetriesPerRequest: options.waitsWhileUnreachable ? null : 0,
    ...(options.commandTimeout !== undefined && { commandTimeout: options.commandTimeout }),
    ...(options.disconnectTimeout !== undefined && { disconnectTimeout: options.disconnectTimeout }),
  };
  const single = {
    ...common,
    enableOfflineQueue: options.waitsWhileUnreachable,
    retryStrategy: backOffMillis,
  };
  switch (address.kind) {
    case 'server':
      return new Redis(address.url, single);
    case 'sentinel':
      return new Redis({ ...single, ...sentinelOptions(address) });
    case 'cluster':
      return new Cluster([...address.hosts], {
        enableOfflineQueue: options.waitsWhileUnreachable,
        clusterRetryStrategy: backOffMillis,
        slotsRefreshInterval,
        ...(!options.waitsWhileUnreachable && { maxRedirections: maxRedirectionsWithoutWaiting }),
        ...clusterOptions(address, common),
      });
  }
}

function sentinelOptions({ hosts, tls, name, db, ...logins }: SentinelAddress) {
  const { username, password, sentinelUsername, sentinelPassword } = logins;
  return {
    ...{ sentinels: hosts.map((host) => ({ ...host })), name, db, sentinelCommandTimeout },
    sentinelRetryStrategy: backOffMillis,
    // A master that hangs keeps its connections. The sentinels report that another one has taken over.
    failoverDetector: true,
    sentinelReconnectStrategy: backOffMillis,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  } satisfies RedisOptions;
}

function clusterOptions<Common>({ username, password, tls }: ClusterAddress, common: Common) {
  return {
    redisOptions: {
      ...common,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    },
    // A certificate names the host, not its current address.
    ...(tls && { dnsLookup: (host, done) => done(null, host) }),
  } satisfies ClusterOptions;
}

/** Returns the servers that accept writes. Rejects if the cluster is unreachable. */
export function mastersOf(redis: RedisClient): readonly Redis[] {
  if (redis instanceof Redis) return [redis];
  if (redis.status !== 'ready') throw new Error('the cluster is unavailable');
  return redis.nodes('master');
}
