/** Connections to Redis, each for what it is for. */
import { Redis } from 'ioredis';

const backOff = (attempt: number): number => Math.min(attempt * 100, 2_000);

export type OnError = (error: Error) => void;

/** For those who add: a Redis that is away is an error at once, never a wait and never a queue in memory. */
export function producerRedis(url: string, onError: OnError): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: backOff,
    connectTimeout: 5_000,
  });
  redis.on('error', onError);
  return redis;
}

/** For those who work: they wait for Redis as long as it takes. */
export function workerRedis(url: string, onError: OnError): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: backOff,
    connectTimeout: 5_000,
  });
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

/** Throws where Redis may evict. Asks with INFO, since managed ones forbid CONFIG; waits as the connection does. */
async function refuseEviction(redis: Redis): Promise<void> {
  const policy = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1];
  if (policy !== undefined && policy !== 'noeviction') throw new EvictingRedis(policy);
}
/** Returns once Redis answers, however long that takes, or the signal says not to wait. Throws where it may evict. */
export async function awaitRedis(url: string, onError: OnError, signal: AbortSignal): Promise<void> {
  const redis = workerRedis(url, onError);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    redis.disconnect();
    // Between two attempts to connect, that alone tells nobody.
    reject(new Error('nobody waits for Redis any more'));
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.race([refuseEviction(redis), stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
    redis.disconnect();
  }
}
