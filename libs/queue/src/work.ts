/** The side that works: takes jobs from one queue, so many at once, each within its time. */
import { isJobName, type JobName, jobOf, type QueueName } from '@muster/jobs';
import { type Job, Worker } from 'bullmq';
import { type Redis } from 'ioredis';
import { canary, type QueueAddress, usualPrefix } from './queues.ts';
import { workerRedis } from './redis.ts';

/** A job is its worker's for so long after each sign of it, and is looked for so often. */
const lockMillis = 2_000;
const lookMillis = 500;
/**
 * What a worker had that was killed is freed after so long at most: its time is over, one look finds that, the next acts
 * on it. Until then whoever adds it again finds its id taken.
 */
export const freedAfterMillis = lockMillis + 2 * lookMillis;

/** A job ended. `skipped` says that there was nothing to do any more. */
export type Outcome = 'done' | 'skipped' | 'failed';

export interface Work extends QueueAddress {
  readonly queue: QueueName;
  readonly concurrency: number;
  /** Does one job. The signal says that its time is up: what goes on after it is nobody's. */
  readonly run: (name: JobName, data: unknown, signal: AbortSignal) => Promise<Outcome>;
  readonly onEnd: (name: JobName, outcome: Outcome, seconds: number, error: unknown) => void;
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
  const redis: Redis = workerRedis(options.url, options.onError);
  let lastSign = Date.now();
  let running = 0;

  const runJob = async (job: Job): Promise<void> => {
    lastSign = Date.now();
    // A name of a newer release, which has workers of its own for it.
    if (job.name === canary || !isJobName(job.name)) return;
    const started = performance.now();
    const secondsSince = (): number => (performance.now() - started) / 1_000;
    const signal = AbortSignal.timeout(jobOf(job.name).timeoutSeconds * 1_000);
    running += 1;
    try {
      const outcome = await within(signal, options.run(job.name, job.data, signal));
      onEnd(job.name, outcome, secondsSince(), undefined);
    } catch (error) {
      onEnd(job.name, 'failed', secondsSince(), error);
      throw error;
    } finally {
      running -= 1;
      lastSign = Date.now();
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
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<'too long'>((resolve) => {
        timer = setTimeout(resolve, graceMillis, 'too long');
      });
      const closed = await Promise.race([worker.close(), patience]);
      clearTimeout(timer);
      // Its own connection, on which it waits for jobs, goes with it; where it did not close, that stays.
      if (closed === 'too long') await worker.disconnect().catch(() => undefined);
      redis.disconnect();
    },
  };
}
