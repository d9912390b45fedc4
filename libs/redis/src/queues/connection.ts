/** Connections to Redis, each for what it is for. */
import { setTimeout as pause } from 'node:timers/promises';
import { mastersOf, openRedis, type RedisClient } from '../index.ts';

export type OnError = (error: Error) => void;

/** For those who add: a Redis that is away is an error at once, never a wait and never a queue in memory. */
export function producerRedis(url: string, onError: OnError): RedisClient {
  const redis = openRedis(url, { waits: false });
  redis.on('error', onError);
  return redis;
}

/** For those who work: they wait for Redis as long as it takes. */
export function workerRedis(url: string, onError: OnError): RedisClient {
  const redis = openRedis(url, { waits: true });
  redis.on('error', onError);
  return redis;
}

/** This Redis may throw away what is in the queues. */
export class EvictingRedis extends Error {
  constructor(policy: string) {
    super(
      `this Redis may evict what is queued: its maxmemory-policy is ${policy}, and must be noeviction (CONFIG SET maxmemory-policy noeviction)`,
    );
    this.name = 'EvictingRedis';
  }
}

/** How long a server of a cluster that does not answer is left alone before it is asked again. */
const askAgainMillis = 200;

/** Throws where a server that is written to may evict. Asks with INFO, since managed ones forbid CONFIG. */
async function refuseEviction(redis: RedisClient): Promise<void> {
  const told = await Promise.all(mastersOf(redis).map((master) => master.info('memory')));
  for (const text of told) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1];
    if (policy !== undefined && policy !== 'noeviction') throw new EvictingRedis(policy);
  }
}

/** Returns once Redis answers, however long that takes, or the signal says not to wait. Throws where it may evict. */
export async function awaitRedis(url: string, onError: OnError, signal: AbortSignal): Promise<void> {
  const redis = workerRedis(url, onError);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    redis.disconnect();
    // Between two attempts to connect, that alone tells no caller.
    reject(new Error('nobody waits for Redis any more'));
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      try {
        await Promise.race([refuseEviction(redis), stopped]);
        return;
      } catch (error) {
        if (signal.aborted || error instanceof EvictingRedis) throw error;
        // A command to one server waits for it by itself; a cluster that is away has none to ask.
        onError(error instanceof Error ? error : new Error(String(error)));
        await Promise.race([pause(askAgainMillis), stopped]);
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    redis.disconnect();
  }
}
