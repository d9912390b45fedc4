/** Runs the jobs of every queue and records how each ended. */
import { jobNames, type QueueName, queueNames, JobTicket } from '@muster/jobs';
import { type Metrics } from '@muster/http';
import { startQueueWorker, type RunningWorker } from '@muster/redis/queues';
import { type Logger } from 'pino';

type WorkOptions = Parameters<typeof startQueueWorker>[0];

/**
 * Concurrent jobs per queue. Together with the relay they fit into the connection pool, because jobs of
 * `deliver` mostly wait for other services.
 */
const concurrentJobs: Readonly<Record<QueueName, number>> = {
  deliver: 8,
  sync: 3,
  upkeep: 1,
  leases: 1,
  billing: 1,
  exports: 1,
};

/** Creates the function that counts and logs each finished job. */
export function createJobRecorder(metrics: Metrics, logger: Logger): WorkOptions['onEnd'] {
  const counts = new Map(jobNames.map((name) => [name, metrics.createJobCounter(name)]));
  return ({ name, data, outcome, seconds, error }) => {
    counts.get(name)?.(outcome, seconds);
    const { orgId, rowId, others } = JobTicket.partial().catch({}).parse(data);
    const durationMs = Math.round(seconds * 10_000) / 10;
    const rows = others && { rows: others.length + 1 };
    const facts = { job: name, orgId, rowId, outcome, durationMs, ...rows };
    if (outcome === 'failed') logger.warn({ ...facts, err: error }, 'a job failed and will be retried later');
    else logger.info(facts, 'job');
  };
}

export const startJobWorkers = (options: Omit<WorkOptions, 'queue' | 'concurrency'>): RunningWorker[] =>
  queueNames.map((queue) => startQueueWorker({ ...options, queue, concurrency: concurrentJobs[queue] }));
