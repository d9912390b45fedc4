/** Connections to Redis for producers and workers of queues. */
import { setTimeout as pause } from 'node:timers/promises';
import { mastersOf, openRedis, type RedisClient } from '../index.ts';

export type OnError = (error: Error) => void;

/**
 * Opens a connection for producers. If Redis is unreachable, a command fails immediately instead of waiting
 * in memory.
 */
export function openProducerRedis(url: string, onError: OnError): RedisClient {
  const redis = openRedis(url, { waitsWhileUnreachable: false });
  redis.on('error', onError);
  return redis;
}

/** Opens a connection for workers, which wait for Redis without a time limit. */
export function openWorkerRedis(url: string, onError: OnError): RedisClient {
  const redis = openRedis(url, { waitsWhileUnreachable: true });
  redis.on('error', onError);
  return redis;
}

/** The error of a Redis that may evict the keys of queues. */
export class EvictingRedis extends Error {
  constructor(policy: string) {
    super(
      `Redis may evict queued jobs: its maxmemory-policy is ${policy}, and must be noeviction (CONFIG SET maxmemory-policy noeviction)`,
    );
    this.name = 'EvictingRedis';
  }
}

/** The delay before a cluster server that did not answer is asked again. */
const reconnectDelayMillis = 200;

/**
 * Throws if a server that accepts writes may evict keys. Uses INFO, because managed services forbid CONFIG.
 */
async function refuseEviction(redis: RedisClient): Promise<void> {
  const memoryReports = await Promise.all(mastersOf(redis).map((master) => master.info('memory')));
  for (const text of memoryReports) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1];
    if (policy !== undefined && policy !== 'noeviction') throw new EvictingRedis(policy);
  }
}

/**
 * Returns once Redis answers, without a time limit, or once the signal aborts. Throws if Redis may evict
 * keys.
 */
export async function awaitRedis(url: string, onError: OnError, signal: AbortSignal): Promise<void> {
  const redis = openWorkerRedis(url, onError);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    redis.disconnect();
    // Stops the wait explicitly, because disconnect() notifies no caller between two connection attempts.
    reject(new Error('the call was canceled before Redis answered'));
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      try {
        await Promise.race([refuseEviction(redis), stopped]);
        return;
      } catch (error) {
        if (signal.aborted || error instanceof EvictingRedis) throw error;
        // This error occurs only for a cluster that is unreachable, because it has no server to ask. A
        // command to a single server waits until the server answers.
        onError(error instanceof Error ? error : new Error(String(error)));
        await Promise.race([pause(reconnectDelayMillis), stopped]);
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    redis.disconnect();
  }
}
