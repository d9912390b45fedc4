/** The side that asks for work: adds jobs, keeps the schedule, counts. */
import {
  type JobName,
  jobOf,
  type QueueName,
  queueNames,
  type ScheduledJobName,
  type Ticket,
} from '@muster/jobs';
import { Queue } from 'bullmq';
import { type OnError, producerRedis } from './connection.ts';

/** The hash tag keeps all queues in one slot of a cluster, where BullMQ's scripts need them. */
export const usualPrefix = '{muster}';

/** A job that only shows that its queue is served. */
export const canary = 'canary';
const canaryMillis = 30_000;

/** One whose time passed so long ago has lost its next run, for instance to a flush. */
const lostAfterMillis = 5 * 60_000;

export interface QueueAddress {
  readonly url: string;
  /** Of all keys; {@link usualPrefix} unless told. */
  readonly prefix?: string | undefined;
  readonly onError: OnError;
}

export interface Enqueued {
  readonly name: JobName;
  readonly ticket: Ticket;
  /** Of those who asked for it, where traces are made. */
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
   * Adds jobs under the ids of their rows, a batch under that of its first: one that lies there already is not added
   * again. Throws at once while Redis is away; then none, some or all of them are there, and adding them again is safe.
   */
  enqueue(jobs: readonly Enqueued[]): Promise<void>;
  /** How many wait, by queue. Throws at once while Redis is away. */
  waiting(): Promise<Record<QueueName, number>>;
  counts(): Promise<Record<QueueName, QueueCounts>>;
  /** Makes each of them come again after so many seconds, once for all workers; and a canary on each queue. */
  keepSchedule(schedule: Readonly<Record<ScheduledJobName, number>>): Promise<void>;
  /**
   * Runs a scheduled job once more after this delay, besides its schedule. Requests for the same 100 ms are one job.
   * Throws immediately while Redis is away.
   */
  runAfter(name: ScheduledJobName, delayMs: number): Promise<void>;
  /** BullMQ's own, for the dashboard. */
  readonly all: readonly Queue[];
  close(): Promise<void>;
}

/** Opens the queues; a Redis that is away now is waited for by the first call. */
export function openQueues({ url, prefix = usualPrefix, onError }: QueueAddress): Queues {
  const redis = producerRedis(url, onError);
  const open = (name: QueueName): Queue => {
    const queue = new Queue(name, {
      connection: redis,
      prefix,
      // The outbox alone tries again, and an id that stays would swallow its next dispatch.
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
  };
  const all = Object.values(byName);

  const ofEach = async <Value>(look: (queue: Queue) => Promise<Value>): Promise<Record<QueueName, Value>> => {
    const [deliver, sync, upkeep, leases, billing] = await Promise.all([
      look(byName.deliver),
      look(byName.sync),
      look(byName.upkeep),
      look(byName.leases),
      look(byName.billing),
    ]);
    return { deliver, sync, upkeep, leases, billing };
  };

  const keep = async (queue: Queue, name: string, every: number): Promise<void> => {
    const known = await queue.getJobScheduler(name);
    const inMillis = (known?.next ?? 0) - Date.now();
    // It was set by a worker whose clock was ahead, and setting it anew alone would not move it back.
    const isAhead = inMillis > Math.max(every, known?.every ?? 0) + lostAfterMillis;
    // Setting it anew moves its next run: where that happened at every start, a daily job might never come.
    if (known?.every === every && inMillis > -lostAfterMillis && !isAhead) return;
    if (isAhead) await queue.removeJobScheduler(name);
    await queue.upsertJobScheduler(name, { every }, { name, data: {} });
  };

  return {
    all,
    enqueue: async (jobs) => {
      await Promise.all(
        queueNames.map(async (queueName) => {
          const here = jobs.filter(({ name }) => jobOf(name).queue === queueName);
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
    keepSchedule: async (schedule) => {
      for (const queue of all) await keep(queue, canary, canaryMillis);
      for (const [name, seconds] of Object.entries(schedule) as [ScheduledJobName, number][]) {
        await keep(byName[jobOf(name).queue], name, seconds * 1_000);
      }
    },
    runAfter: async (name, delayMs) => {
      const dueTick = Math.ceil((Date.now() + delayMs) / 100);
      await byName[jobOf(name).queue].add(name, {}, { delay: delayMs, jobId: `${name}-${dueTick}` });
    },
    close: async () => {
      // Queues do not close what was passed in, and one that never saw Redis would wait for it.
      redis.disconnect();
      await Promise.allSettled(all.map((queue) => queue.close()));
    },
  };
}
