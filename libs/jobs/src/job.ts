/** The definition of a job, which the queues, the relay and the workers share. */
import { z } from 'zod';

/**
 * The queues, each with its own workers, so that slow work does not delay other kinds.
 * `deliver` calls external services, `sync` updates figures, `upkeep` cleans up, `leases` records expired
 * leases and locks, `billing` counts seats, and `exports` writes archives.
 */
export const queueNames = ['deliver', 'sync', 'upkeep', 'leases', 'billing', 'exports'] as const;
export type QueueName = (typeof queueNames)[number];

/**
 * The trigger of a job:
 * - `row`: a row of the outbox whose topic is the job's name. Each row is a job.
 * - `batch`: several rows of the outbox with that topic. Their work calls no external service, so rows of an
 * organization share a job and a transaction. If one row fails the batch, each row is processed alone.
 * - `rows`: all rows of an organization with that topic. The rows only state that something changed. One job
 * handles them from the current state, so loss, duplicates and order do not matter.
 * - `schedule`: time. The job belongs to no organization, has no payload, and repeats.
 */
export type JobTrigger = 'row' | 'batch' | 'rows' | 'schedule';

export interface Job<Asked extends JobTrigger = JobTrigger, Payload = unknown> {
  readonly summary: string;
  readonly trigger: Asked;
  readonly queue: QueueName;
  /** The payload must not have secrets, because the outbox stores it as plain text. */
  readonly payload: z.ZodType<Payload>;
  /** The number of attempts after which the job is dead until an operator replays it. */
  readonly attempts: number;
  /** The time limit of one attempt. */
  readonly timeoutSeconds: number;
}

/** The usual number of attempts. With the delays of the relay they take about three hours. */
const defaultAttempts = 12;

type JobDefinition<Payload> = Pick<Job<'row', Payload>, 'summary' | 'queue' | 'payload' | 'timeoutSeconds'>;

/** Defines a kind of job that handles a single row of the outbox. */
export const defineRowJob = <Payload>(job: JobDefinition<Payload>): Job<'row', Payload> => ({
  ...job,
  trigger: 'row',
  attempts: defaultAttempts,
});

/** Defines a kind of job that handles several outbox rows of the same topic and organization together. */
export const defineBatchJob = <Payload>(job: JobDefinition<Payload>): Job<'batch', Payload> => ({
  ...job,
  trigger: 'batch',
  attempts: defaultAttempts,
});

/** Defines a job for all rows of its topic in an organization. */
export const defineOrganizationJob = <Payload>(job: JobDefinition<Payload>): Job<'rows', Payload> => ({
  ...job,
  trigger: 'rows',
  attempts: defaultAttempts,
});

const EmptyPayload = z.strictObject({});

/** Defines a job that repeats on a schedule. A failed run is not retried before its next scheduled time. */
export const defineScheduledJob = (
  job: Omit<JobDefinition<unknown>, 'payload'>,
): Job<'schedule', z.output<typeof EmptyPayload>> => ({
  ...job,
  payload: EmptyPayload,
  trigger: 'schedule',
  attempts: 1,
});

/**
 * The number of rows in a batch. Rows of a batch wait for one another, and a failing row makes the others run
 * again.
 */
export const maxBatchRows = 10;

/** The data of a queued outbox job: the location of its row, without the contents. */
export const JobTicket = z.strictObject({
  orgId: z.uuid(),
  rowId: z.uuid(),
  /** The ids of the other rows in the same batch. */
  others: z
    .array(z.uuid())
    .max(maxBatchRows - 1)
    .optional(),
});
export type JobTicket = z.infer<typeof JobTicket>;
