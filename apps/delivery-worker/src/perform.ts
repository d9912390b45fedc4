/**
 * Performs jobs. A tenant transaction locks the job's rows, does the work and marks the rows done. A job that
 * is delivered twice is therefore done once. If a job fails or its worker dies, the row stays unprocessed,
 * and the relay dispatches it again.
 *
 * E-mails and push messages cannot be rolled back, so they are sent after that transaction, and a second
 * transaction marks the row done. Between the two transactions the row is postponed, so that no relay
 * dispatches it. A message is sent twice only if the process dies between the two transactions.
 */
import { orgFilter, type PlainDb, type Pool, type Query, sql } from '@muster/driver';
import {
  type JobName,
  jobDefinitionOf,
  type Jobs,
  type OutboxJobName,
  type PayloadOf,
  type ScheduledJobName,
  JobTicket,
} from '@muster/jobs';
import { type JobOutcome, rejectOnAbort } from '@muster/redis/queues';
import { inSpan } from '@muster/http';
import { inOrganizationAsSystem } from '@muster/tenancy';

export interface RowJob<Payload> {
  readonly db: PlainDb;
  readonly orgId: string;
  readonly rowId: string;
  readonly payload: Payload;
}

/** Sends a message after the commit. It may return a function that writes the outcome. */
export type SendMessage = (signal: AbortSignal) => Promise<((db: PlainDb) => Promise<void>) | undefined>;

/** Works in the transaction, or prepares a message there and returns the function that sends it. */
export type RowWorker<Payload> = (work: RowJob<Payload>) => Promise<SendMessage | undefined>;
/** Works in a transaction that it shares with other jobs of its kind. */
export type BatchWorker<Payload> = (work: RowJob<Payload>) => Promise<void>;
export type OrganizationWorker = (work: { readonly db: PlainDb; readonly orgId: string }) => Promise<void>;
export type ScheduledWorker = (signal: AbortSignal) => Promise<void>;

/** The worker of each job. A job without a worker is a type error. */
export type Workers = {
  readonly [Name in JobName]: Jobs[Name]['trigger'] extends 'row'
    ? RowWorker<PayloadOf<Name>>
    : Jobs[Name]['trigger'] extends 'batch'
      ? BatchWorker<PayloadOf<Name>>
      : Jobs[Name]['trigger'] extends 'rows'
        ? OrganizationWorker
        : ScheduledWorker;
};

/**
 * The seconds that a row stays postponed after its job's timeout, because an attempt that timed out may still
 * be sending. The margin prevents two workers from sending the same message.
 */
const holdMarginSeconds = 15;

/** Locks the rows that are not done and that no other worker has locked. */
export const lockRows = (rowIds: readonly string[], name: JobName): Query<LockedRow> => sql<LockedRow>`
  select r.id, r.payload, o.deleted_at is not null as "orgDeleted"
  from outbox r join orgs o on o.id = r.org_id
  where ${orgFilter('r')} and r.id = any (${rowIds}::uuid[]) and r.topic = ${name} and /*guard: a job is done once*/r.done_at is null/*end*/ and r.dead_at is null
  order by r.id for update of r skip locked`;

export const markRowsDone = (rowIds: readonly string[]): Query<unknown> =>
  sql`update outbox set done_at = now(), error = null where ${orgFilter()} and id = any (${rowIds}::uuid[])`;

export const postponeRow = (rowId: string, seconds: number): Query<unknown> => sql`
  update outbox set dispatch_after = greatest(dispatch_after, now() + make_interval(secs => ${seconds}))
  where ${orgFilter()} and id = ${rowId}`;

/**
 * Locks all unprocessed rows of the topic, including dead rows, because the work brings the state up to date
 * for all of them.
 */
export const lockAllRows = (name: JobName): Query<Omit<LockedRow, 'payload'>> => sql<
  Omit<LockedRow, 'payload'>
>`
  select r.id, o.deleted_at is not null as "orgDeleted"
  from outbox r join orgs o on o.id = r.org_id
  where ${orgFilter('r')} and r.topic = ${name} and r.done_at is null
  order by r.id limit 5000 for update of r`;

export const recordRowError = (rowIds: readonly string[], text: string): Query<unknown> =>
  sql`update outbox set error = ${text} where ${orgFilter()} and id = any (${rowIds}::uuid[]) and done_at is null`;

/** Creates the function that runs a queued job by its name. */
export function createJobPerformer(
  pool: Pool,
  workers: Workers,
): (name: JobName, data: unknown, signal: AbortSignal) => Promise<JobOutcome> {
  return async (name, data, signal) => {
    const { trigger } = jobDefinitionOf(name);
    if (trigger === 'schedule') {
      await scheduledWorker(workers, name)(signal);
      return 'done';
    }
    const { orgId, rowId, others = [] } = JobTicket.parse(data);
    const delivery = { pool, name, orgId, signal };
    if (trigger === 'batch') return performBatch(delivery, batchWorker(workers, name), [rowId, ...others]);
    return recordErrors(delivery, [rowId], () =>
      trigger === 'row'
        ? runOutboxJob(delivery, rowWorker(workers, name), rowId)
        : performForOrganization(delivery, organizationWorker(workers, name)),
    );
  };
}

/** One delivery of a job by its queue. */
interface JobDelivery {
  readonly pool: Pool;
  readonly name: JobName;
  readonly orgId: string;
  /** Aborts at the job's timeout. */
  readonly signal: AbortSignal;
}

interface LockedRow {
  readonly id: string;
  readonly payload: unknown;
  readonly orgDeleted: boolean;
}

async function runOutboxJob(
  { pool, name, orgId, signal }: JobDelivery,
  worker: RowWorker<unknown>,
  rowId: string,
): Promise<JobOutcome> {
  const job = jobDefinitionOf(name);
  const prepare = async (db: PlainDb): Promise<SendMessage | JobOutcome> => {
    const [row] = await db.all(lockRows([rowId], name));
    if (row === undefined) return 'skipped';
    const sending = row.orgDeleted
      ? undefined
      : await worker({ db, orgId, rowId, payload: job.payload.parse(row.payload) });
    if (sending === undefined) {
      db.deferToCommit(markRowsDone([rowId]));
      return row.orgDeleted ? 'skipped' : 'done';
    }
    db.deferToCommit(postponeRow(rowId, job.timeoutSeconds + holdMarginSeconds));
    return sending;
  };
  const prepared = await inOrganizationAsSystem(pool, orgId, (db) => rejectOnAbort(signal, prepare(db)));
  if (typeof prepared === 'string') return prepared;
  const write = await inSpan(
    () => ({ name: 'send', kind: 'client' }),
    () => rejectOnAbort(signal, prepared(signal)),
  );
  await inOrganizationAsSystem(pool, orgId, async (db) => {
    await write?.(db);
    db.deferToCommit(markRowsDone([rowId]));
  });
  return 'done';
}

/**
 * Performs all rows in one transaction. If it fails, performs each row separately, so that only the failing
 * ones get an error.
 */
async function performBatch(
  delivery: JobDelivery,
  worker: BatchWorker<unknown>,
  rowIds: readonly string[],
): Promise<JobOutcome> {
  const { pool, orgId, signal } = delivery;
  const inOneTransaction = (ids: readonly string[]): Promise<JobOutcome> =>
    inOrganizationAsSystem(pool, orgId, (db) =>
      rejectOnAbort(signal, workOnBatch(db, delivery, worker, ids)),
    );
  if (rowIds.length > 1) {
    const outcome = await inOneTransaction(rowIds).catch(() => undefined);
    if (outcome !== undefined) return outcome;
  }
  const outcomes: JobOutcome[] = [];
  const failures = new Map<string, unknown>();
  for (const [index, rowId] of rowIds.entries()) {
    // After the timeout, the remaining rows fail as well.
    const ids = signal.aborted ? rowIds.slice(index) : [rowId];
    await recordErrors(delivery, ids, () => inOneTransaction([rowId])).then(
      (outcome) => outcomes.push(outcome),
      (error: unknown) => ids.forEach((id) => failures.set(id, error)),
    );
    if (ids.length > 1) break;
  }
  if (failures.size > 0) {
    const [cause] = failures.values();
    throw new Error(`${failures.size} of ${rowIds.length} rows failed`, { cause });
  }
  return outcomes.includes('done') ? 'done' : 'skipped';
}

async function workOnBatch(
  db: PlainDb,
  { name, orgId }: JobDelivery,
  worker: BatchWorker<unknown>,
  rowIds: readonly string[],
): Promise<JobOutcome> {
  const rows = await db.all(lockRows(rowIds, name));
  if (rows[0] === undefined) return 'skipped';
  const { orgDeleted } = rows[0];
  const { payload } = jobDefinitionOf(name);
  for (const row of orgDeleted ? [] : rows)
    await worker({ db, orgId, rowId: row.id, payload: payload.parse(row.payload) });
  db.deferToCommit(markRowsDone(rows.map(({ id }) => id)));
  return orgDeleted ? 'skipped' : 'done';
}

function performForOrganization(
  { pool, name, orgId, signal }: JobDelivery,
  worker: OrganizationWorker,
): Promise<JobOutcome> {
  return inOrganizationAsSystem(pool, orgId, (db) =>
    rejectOnAbort(
      signal,
      (async () => {
        // The transactions that wrote these rows have committed, so the work sees all of their changes.
        const rows = await db.all(lockAllRows(name));
        if (rows[0] === undefined) return 'skipped';
        if (!rows[0].orgDeleted) await worker({ db, orgId });
        db.deferToCommit(markRowsDone(rows.map((row) => row.id)));
        return rows[0].orgDeleted ? 'skipped' : 'done';
      })(),
    ),
  );
}

/**
 * Records the error on the rows that caused it, for the operators' list. If that fails, the job is still
 * reported as failed.
 */
async function recordErrors<Result>(
  { pool, orgId }: JobDelivery,
  rowIds: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    await inOrganizationAsSystem(pool, orgId, async (db) => {
      db.deferToCommit(recordRowError(rowIds, text));
    }).catch(() => undefined);
    throw error;
  }
}

/**
 * The following casts select a worker by the job's name. TypeScript cannot derive the worker's type from
 * `askedBy`.
 */
const rowWorker = (workers: Workers, name: JobName): RowWorker<unknown> =>
  workers[name as OutboxJobName] as RowWorker<unknown>;
const batchWorker = (workers: Workers, name: JobName): BatchWorker<unknown> =>
  workers[name as OutboxJobName] as BatchWorker<unknown>;
const organizationWorker = (workers: Workers, name: JobName): OrganizationWorker =>
  workers[name as OutboxJobName] as OrganizationWorker;
const scheduledWorker = (workers: Workers, name: JobName): ScheduledWorker =>
  workers[name as ScheduledJobName];
