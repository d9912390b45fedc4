/** What a job is: the statement of it, from which queue, relay and workers go. */
import { z } from 'zod';

/**
 * One line per queue, each with workers of its own, so that slow work holds up none of another kind:
 * `deliver` waits for the outside world, `sync` brings figures up to date, `upkeep` cleans, `leases` notes the expiry of
 * leases and locks, `billing` counts seats.
 */
export const queueNames = ['deliver', 'sync', 'upkeep', 'leases', 'billing'] as const;
export type QueueName = (typeof queueNames)[number];

/**
 * What asks for a job:
 * - `row`: a row of the outbox whose topic is the job's name; each row is a job.
 * - `batch`: such rows too. Nothing of the work leaves the product, so that several of an organization share a job and a
 *   transaction; where one of them spoils it, each is done by itself.
 * - `rows`: such rows too, but they only say that something changed. One job answers all of an organization's, from
 *   the state as it is, so that loss, doubles and order do not matter.
 * - `schedule`: time. It is of no organization, has no payload, and comes again.
 */
export type AskedBy = 'row' | 'batch' | 'rows' | 'schedule';

export interface Job<Asked extends AskedBy = AskedBy, Payload = unknown> {
  readonly summary: string;
  readonly askedBy: Asked;
  readonly queue: QueueName;
  /** Never a secret: it lies in the outbox as it is. */
  readonly payload: z.ZodType<Payload>;
  /** After so many it is dead, until an operator replays it. */
  readonly attempts: number;
  /** How long one attempt may take. */
  readonly timeoutSeconds: number;
}

/** Some three hours of trying, as the relay spaces it. */
const usualAttempts = 12;

type Statement<Payload> = Pick<Job<'row', Payload>, 'summary' | 'queue' | 'payload' | 'timeoutSeconds'>;

/** A job per row of the outbox. */
export const perRow = <Payload>(job: Statement<Payload>): Job<'row', Payload> => ({
  ...job,
  askedBy: 'row',
  attempts: usualAttempts,
});

/** A job for several rows of its topic in an organization. */
export const perBatch = <Payload>(job: Statement<Payload>): Job<'batch', Payload> => ({
  ...job,
  askedBy: 'batch',
  attempts: usualAttempts,
});

/** A job for all rows of its topic in an organization. */
export const perOrganization = <Payload>(job: Statement<Payload>): Job<'rows', Payload> => ({
  ...job,
  askedBy: 'rows',
  attempts: usualAttempts,
});

const Nothing = z.strictObject({});

/** A job that comes again by itself: what failed once is tried at its next time. */
export const scheduled = (
  job: Omit<Statement<unknown>, 'payload'>,
): Job<'schedule', z.output<typeof Nothing>> => ({
  ...job,
  payload: Nothing,
  askedBy: 'schedule',
  attempts: 1,
});

/** Rows of a batch. They wait for one another, and one that fails costs the others a second turn. */
export const mostInBatch = 10;

/** What lies in a queue for a job of the outbox: where its row is, and nothing of what is in it. */
export const Ticket = z.strictObject({
  orgId: z.uuid(),
  rowId: z.uuid(),
  /** The other rows of its batch. */
  others: z
    .array(z.uuid())
    .max(mostInBatch - 1)
    .optional(),
});
export type Ticket = z.infer<typeof Ticket>;
