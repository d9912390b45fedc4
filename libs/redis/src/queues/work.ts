/** The workers' side of a queue: processes a limited number of jobs at a time, each with a time limit. */
import { setTimeout as pause } from 'node:timers/promises';
import { isJobName, type JobName, jobDefinitionOf, type QueueName } from '@muster/jobs';
import { inLinkedSpan } from '@muster/tracing';
import { type Job, Worker } from 'bullmq';
import { canaryJobName, type QueueConnectionOptions, defaultKeyPrefix } from './queues.ts';
import { openWorkerRedis } from './connection.ts';

/**
 * The duration of a job's lock after each renewal, and the interval at which expired locks are looked for.
 */
const jobLockMillis = 2_000;
const stalledCheckIntervalMillis = 500;
/**
 * The maximum time in milliseconds until the job of a killed worker can be taken again. The job's lock has to
 * expire, and a worker looks for expired locks twice before it frees the job. Until then a caller that adds
 * the job again finds its id in use.
 */
export const killedJobFreedAfterMillis = jobLockMillis + 2 * stalledCheckIntervalMillis;

/** The time that a closing worker waits for Redis after its last job has ended. */
const closeReportTimeoutMillis = 2_000;

/** The result of a job. `skipped` means that there was nothing left to do. */
export type JobOutcome = 'done' | 'skipped' | 'failed';

export interface EndedJob {
  readonly name: JobName;
  /** The data of the job. For an outbox job it is the ticket. */
  readonly data: unknown;
  readonly outcome: JobOutcome;
  readonly seconds: number;
  /** The error of a failed job. */
  readonly error: unknown;
}

export interface QueueWorkerOptions extends QueueConnectionOptions {
  readonly queue: QueueName;
  readonly concurrency: number;
  /** Runs one job. The signal aborts when its time is up; later results are ignored. */
  readonly run: (name: JobName, data: unknown, signal: AbortSignal) => Promise<JobOutcome>;
  readonly onEnd: (ended: EndedJob) => void;
}

export interface RunningWorker {
  readonly queue: QueueName;
  /**
   * Returns the time at which the worker last took or ended a job, including canaries, as given by
   * Date.now().
   */
  lastActivityMillis(): number;
  /**
   * Returns true if all slots are in use. A worker without a free slot takes no jobs, so its silence is no
   * sign of a fault.
   */
  isBusy(): boolean;
  /**
   * Takes no further jobs, and waits for the running ones. Jobs that do not end in time are dispatched again
   * later.
   */
  close(graceMillis: number): Promise<void>;
}

/** Settles like `work`, or rejects when the time limit of the job is reached. */
export async function rejectOnAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => {
    reject(new Error('the job exceeded its time limit'));
  };
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export function startQueueWorker(options: QueueWorkerOptions): RunningWorker {
  const { queue, concurrency, onEnd } = options;
  const redis = openWorkerRedis(options.url, options.onError);
  let lastSign = Date.now();
  let running = 0;
  const allEnded = Promise.withResolvers<undefined>();
  let closing = false;

  const runNamed = async (name: JobName, data: unknown): Promise<void> => {
    const started = performance.now();
    const end = (outcome: JobOutcome, error?: unknown): void => {
      onEnd({ name, data, outcome, seconds: (performance.now() - started) / 1_000, error });
    };
    const signal = AbortSignal.timeout(jobDefinitionOf(name).timeoutSeconds * 1_000);
    try {
      end(await rejectOnAbort(signal, options.run(name, data, signal)));
    } catch (error) {
      end('failed', error);
      throw error;
    }
  };

  const runJob = async ({ name, data, opts }: Job<unknown>): Promise<void> => {
    lastSign = Date.now();
    // Skips the canary job, and jobs with a name that this release does not know. An unknown name belongs to
    // a newer release, which has its own workers for it.
    if (name === canaryJobName || !isJobName(name)) return;
    running += 1;
    try {
      await inLinkedSpan(
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
    prefix: options.prefix ?? defaultKeyPrefix,
    concurrency,
    lockDuration: jobLockMillis,
    stalledInterval: stalledCheckIntervalMillis,
    // A worker that lost its lock may still run the job. Only the outbox decides when to retry.
    maxStalledCount: 0,
  });
  worker.on('error', options.onError);

  return {
    queue,
    lastActivityMillis: () => lastSign,
    isBusy: () => running >= concurrency,
    close: async (graceMillis) => {
      closing = true;
      if (running === 0) allEnded.resolve(undefined);
      const over = new AbortController();
      const after = (millis: number): Promise<'too long'> =>
        pause(millis, 'too long', { signal: over.signal });
      // The longest wait for Redis at a shutdown. All jobs have ended by then, and only their results still have
      // to reach Redis. If Redis is unreachable, nothing is lost, because the outbox dispatches these jobs
      // again.
      const patience = Promise.race([
        after(graceMillis),
        allEnded.promise.then(() => after(closeReportTimeoutMillis)),
      ]);
      patience.catch(() => undefined);
      const closed = await Promise.race([worker.close(), patience]);
      over.abort();
      // Also closes the worker's blocking connection, which stays open if `close` fails. The result is not
      // awaited: between two attempts to reach Redis, the connection never reports that it has closed.
      if (closed === 'too long') void worker.disconnect().catch(() => undefined);
      redis.disconnect();
    },
  };
}
