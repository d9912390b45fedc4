/** The producers' side of queues: adds jobs, maintains the schedule, and counts jobs. */
import {
  type JobName,
  jobDefinitionOf,
  type QueueName,
  queueNames,
  type ScheduledJobName,
  type JobTicket,
} from '@muster/jobs';
import { Queue } from 'bullmq';
import { type OnError, openProducerRedis } from './connection.ts';

/** The hash tag keeps all queues in one slot of a cluster, as BullMQ's scripts require. */
export const defaultKeyPrefix = '{muster}';

/** A job that only proves that workers process its queue. */
export const canaryJobName = 'canary';
const canaryIntervalMillis = 30_000;

/**
 * The delay after which a scheduler's missed run means that its next job was lost, for instance by a flush.
 */
const lostJobAfterMillis = 5 * 60_000;

export interface QueueConnectionOptions {
  readonly url: string;
  /** The prefix of all keys. Its default is {@link defaultKeyPrefix}. */
  readonly prefix?: string | undefined;
  readonly onError: OnError;
}

export interface QueuedJob {
  readonly name: JobName;
  readonly ticket: JobTicket;
  /** The trace contexts of the callers that requested the job, if tracing is enabled. */
  readonly traceParents?: readonly string[];
}

export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

export interface Queues {
  /**
   * Adds jobs under the ids of their rows, and a batch under the id of its first row. A job that is already
   * queued is not added again.
   * Throws immediately while Redis is unreachable. Any part of the jobs may have been added then, and adding
   * them again is safe.
   */
  enqueue(jobs: readonly QueuedJob[]): Promise<void>;
  /** Counts the waiting jobs by queue. Throws immediately while Redis is unreachable. */
  waiting(): Promise<Record<QueueName, number>>;
  counts(): Promise<Record<QueueName, QueueCounts>>;
  /**
   * Schedules each job to repeat at its interval in seconds, once for all workers. Also schedules a canary
   * job on each queue.
   */
  ensureSchedule(schedule: Readonly<Record<ScheduledJobName, number>>): Promise<void>;
  /**
   * Returns true if the job's next run is less than two intervals away, in the past or the future. So it
   * returns false if the schedule was lost, for instance by a flush. Throws immediately while Redis is
   * unreachable.
   */
  isOnSchedule(name: ScheduledJobName): Promise<boolean>;
  /**
   * Runs a scheduled job once more after this delay, in addition to its schedule. Requests for the same 100
   * ms become one job. Throws immediately while Redis is unreachable.
   */
  runAfter(name: ScheduledJobName, delayMs: number): Promise<void>;
  /** The queues of BullMQ, for the dashboard. */
  readonly all: readonly Queue[];
  close(): Promise<void>;
}

/** Schedules the job every so many milliseconds, and leaves the next run of an unchanged schedule alone. */
async function ensureJobScheduler(queue: Queue, name: string, every: number): Promise<void> {
  const known = await queue.getJobScheduler(name);
  const inMillis = (known?.next ?? 0) - Date.now();
  // True if a worker whose clock was ahead has set the next run too late. An update alone would not move
  // that run back.
  const isAhead = inMillis > Math.max(every, known?.every ?? 0) + lostJobAfterMillis;
  // Leaves an unchanged schedule alone, because an update moves the next run. If every start updated it, a
  // daily job might never run.
  if (known?.every === every && inMillis > -lostJobAfterMillis && !isAhead) return;
  if (isAhead) await queue.removeJobScheduler(name);
  await queue.upsertJobScheduler(name, { every }, { name, data: {} });
}

async function isOnSchedule(queue: Queue, name: string): Promise<boolean> {
  const known = await queue.getJobScheduler(name);
  return Math.abs((known?.next ?? 0) - Date.now()) < 2 * (known?.every ?? 0);
}

/** Opens the queues. The first call waits for a connection to Redis. */
export function openQueues({ url, prefix = defaultKeyPrefix, onError }: QueueConnectionOptions): Queues {
  const redis = openProducerRedis(url, onError);
  const open = (name: QueueName): Queue => {
    const queue = new Queue(name, {
      connection: redis,
      prefix,
      // Only the outbox retries jobs. An id that stayed in the queue would suppress the next dispatch of its
      // job.
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
    });
    queue.on('error', onError);
    return queue;
  };
  const byName: Record<QueueName, Queue> = {
    deliver: open('deliver'),
    sync: open('sync'),
    upkeep: open('upkeep'),
    leases: open('leases'),
    billing: open('billing'),
    exports: open('exports'),
  };
  const all = Object.values(byName);

  const ofEach = async <Value>(look: (queue: Queue) => Promise<Value>): Promise<Record<QueueName, Value>> => {
    const [deliver, sync, upkeep, leases, billing, exports] = await Promise.all([
      look(byName.deliver),
      look(byName.sync),
      look(byName.upkeep),
      look(byName.leases),
      look(byName.billing),
      look(byName.exports),
    ]);
    return { deliver, sync, upkeep, leases, billing, exports };
  };

  return {
    all,
    enqueue: async (jobs) => {
      await Promise.all(
        queueNames.map(async (queueName) => {
          const here = jobs.filter(({ name }) => jobDefinitionOf(name).queue === queueName);
          if (here.length === 0) return;
          await byName[queueName].addBulk(
            here.map(({ name, ticket, traceParents = [] }) => ({
              name,
              data: ticket,
              opts: {
                jobId: `${ticket.others === undefined ? 'ob' : 'batch'}-${ticket.rowId}`,
                ...(traceParents.length > 0 && { telemetry: { metadata: traceParents.join(' ') } }),
              },
            })),
          );
        }),
      );
    },
    waiting: () => ofEach((queue) => queue.getWaitingCount()),
    counts: () =>
      ofEach(async (queue) => {
        const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed');
        const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
        return { waiting, active, delayed, failed };
      }),
    ensureSchedule: async (schedule) => {
      for (const queue of all) await ensureJobScheduler(queue, canaryJobName, canaryIntervalMillis);
      for (const [name, seconds] of Object.entries(schedule) as [ScheduledJobName, number][])
        await ensureJobScheduler(byName[jobDefinitionOf(name).queue], name, seconds * 1_000);
    },
    isOnSchedule: (name) => isOnSchedule(byName[jobDefinitionOf(name).queue], name),
    runAfter: async (name, delayMs) => {
      const dueTick = Math.ceil((Date.now() + delayMs) / 100);
      await byName[jobDefinitionOf(name).queue].add(
        name,
        {},
        { delay: delayMs, jobId: `${name}-${dueTick}` },
      );
    },
    close: async () => {
      // Queues do not close a connection that was passed in, and a queue that never reached Redis would wait
      // for it.
      redis.disconnect();
      await Promise.allSettled(all.map((queue) => queue.close()));
    },
  };
}
