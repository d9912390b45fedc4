/** The side that works: takes jobs from one queue, so many at once, each within its time. */
import { setTimeout as pause } from 'node:timers/promises';
import { isJobName, type JobName, jobOf, type QueueName } from '@muster/jobs';
import { inSpanAfter } from '@muster/tracing';
import { type Job, Worker } from 'bullmq';
import { canary, type QueueAddress, usualPrefix } from './queues.ts';
import { workerRedis } from './connection.ts';

/** A job is its worker's for so long after each sign of it, and is looked for so often. */
const lockMillis = 2_000;
const lookMillis = 500;
/**
 * What a worker had that was killed is freed after so long at most: its time is over, one look finds that, the next acts
 * on it. Until then a caller that adds it again finds its id taken.
 */
export const freedAfterMillis = lockMillis + 2 * lookMillis;

/** How long a worker that is closed waits for Redis when all its jobs have ended. */
const lastWordMillis = 2_000;

/** A job ended. `skipped` says that there was nothing to do any more. */
export type Outcome = 'done' | 'skipped' | 'failed';

export interface Ended {
  readonly name: JobName;
  /** As it was handed over: of a job of the outbox, its ticket. */
  readonly data: unknown;
  readonly outcome: Outcome;
  readonly seconds: number;
  /** Of one that failed. */
  readonly error: unknown;
}

export interface Work extends QueueAddress {
  readonly queue: QueueName;
  readonly concurrency: number;
  /** Does one job. The signal says that its time is up: what goes on after it counts for nothing. */
  readonly run: (name: JobName, data: unknown, signal: AbortSignal) => Promise<Outcome>;
  readonly onEnd: (ended: Ended) => void;
}

export interface Working {
  readonly queue: QueueName;
  /** When the worker last took or ended a job, canaries among them: by Date.now(). */
  lastSign(): number;
  /** Whether all its hands are full, so that silence says nothing. */
  isBusy(): boolean;
  /** Takes no more jobs, and waits so long for those that run. What does not end is dispatched again later. */
  close(graceMillis: number): Promise<void>;
}

/** Settles as the work does, or fails when the time is up. */
export async function within<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    reject(new Error('the time of this job was up'));
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export function work(options: Work): Working {
  const { queue, concurrency, onEnd } = options;
  const redis = workerRedis(options.url, options.onError);
  let lastSign = Date.now();
  let running = 0;
  const allEnded = Promise.withResolvers<undefined>();
  let closing = false;

  const runNamed = async (name: JobName, data: unknown): Promise<void> => {
    const started = performance.now();
    const end = (outcome: Outcome, error?: unknown): void => {
      onEnd({ name, data, outcome, seconds: (performance.now() - started) / 1_000, error });
    };
    const signal = AbortSignal.timeout(jobOf(name).timeoutSeconds * 1_000);
    try {
      end(await within(signal, options.run(name, data, signal)));
    } catch (error) {
      end('failed', error);
      throw error;
    }
  };

  const runJob = async ({ name, data, opts }: Job<unknown>): Promise<void> => {
    lastSign = Date.now();
    // A name of a newer release, which has workers of its own for it.
    if (name === canary || !isJobName(name)) return;
    running += 1;
    try {
      await inSpanAfter(
        () => ({
          name,
          kind: 'consumer',
          attributes: { 'messaging.system': 'bullmq', 'messaging.destination.name': queue },
        }),
        opts.telemetry?.metadata?.split(' ') ?? [],
        () => runNamed(name, data),
      );
    } finally {
      running -= 1;
      lastSign = Date.now();
      if (closing && running === 0) allEnded.resolve(undefined);
    }
  };

  const worker = new Worker(queue, runJob, {
    connection: redis,
    prefix: options.prefix ?? usualPrefix,
    concurrency,
    lockDuration: lockMillis,
    stalledInterval: lookMillis,
    // A worker that lost its lock may still be at it: only the outbox says when to try again.
    maxStalledCount: 0,
  });
  worker.on('error', options.onError);

  return {
    queue,
    lastSign: () => lastSign,
    isBusy: () => running >= concurrency,
    close: async (graceMillis) => {
      closing = true;
      if (running === 0) allEnded.resolve(undefined);
      const over = new AbortController();
      const after = (millis: number): Promise<'too long'> =>
        pause(millis, 'too long', { signal: over.signal });
      // What has ended only has to be said to Redis, and nothing is lost where that is away.
      const patience = Promise.race([after(graceMillis), allEnded.promise.then(() => after(lastWordMillis))]);
      patience.catch(() => undefined);
      const closed = await Promise.race([worker.close(), patience]);
      over.abort();
      // Its own connection, on which it waits for jobs, goes with it; where it did not close, that stays. No caller waits
      // for it to go: between two attempts to reach a Redis that is away it never says that it has gone.
      if (closed === 'too long') void worker.disconnect().catch(() => undefined);
      redis.disconnect();
    },
  };
}
