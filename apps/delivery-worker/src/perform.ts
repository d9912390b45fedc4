/**
 * How a job is done, once for all of them: its rows are locked, the work runs in a transaction of their organization, and
 * the same transaction marks them done. So a job that is delivered twice is done once, and one that fails or whose
 * worker dies leaves nothing but an undone row, which the relay dispatches again.
 *
 * Mails and pushes cannot be taken back, so they go out after that transaction, and a second one marks the row done.
 * Meanwhile the row is held: no relay dispatches it. Only a process that dies between the two sends a message twice.
 */
import { of, type PlainDb, type Pool, type Query, sql } from '@muster/driver';
import {
  type JobName,
  jobOf,
  type Jobs,
  type OutboxJobName,
  type PayloadOf,
  type ScheduledJobName,
  Ticket,
} from '@muster/jobs';
import { type Outcome, within } from '@muster/redis/queues';
import { inSpan } from '@muster/http';
import { inOrganizationAsSystem } from '@muster/tenancy';

export interface RowWork<Payload> {
  readonly db: PlainDb;
  readonly orgId: string;
  readonly rowId: string;
  readonly payload: Payload;
}

/** Goes out after the commit; may answer with what is to be written about it. */
export type Sending = (signal: AbortSignal) => Promise<((db: PlainDb) => Promise<void>) | undefined>;

/** Does its work in the transaction, or prepares there what is to be sent. */
export type RowWorker<Payload> = (work: RowWork<Payload>) => Promise<Sending | undefined>;
/** Does its work in the transaction, which it shares with others of its kind. */
export type BatchWorker<Payload> = (work: RowWork<Payload>) => Promise<void>;
export type OrganizationWorker = (work: { readonly db: PlainDb; readonly orgId: string }) => Promise<void>;
export type ScheduledWorker = (signal: AbortSignal) => Promise<void>;

/** Who does each job: one without a worker does not compile. */
export type Workers = {
  readonly [Name in JobName]: Jobs[Name]['askedBy'] extends 'row'
    ? RowWorker<PayloadOf<Name>>
    : Jobs[Name]['askedBy'] extends 'batch'
      ? BatchWorker<PayloadOf<Name>>
      : Jobs[Name]['askedBy'] extends 'rows'
        ? OrganizationWorker
        : ScheduledWorker;
};

/** Longer than its time by this, so that two never send the same: an attempt that was cut off may still be at it. */
const holdMarginSeconds = 15;

/** Those of the rows that are still to be done, and that no other worker is doing. */
export const lockRows = (rowIds: readonly string[], name: JobName): Query<LockedRow> => sql<LockedRow>`
  select r.id, r.payload, o.deleted_at is not null as "orgDeleted"
  from outbox r join orgs o on o.id = r.org_id
  where ${of('r')} and r.id = any (${rowIds}::uuid[]) and r.topic = ${name} and /*guard: a job is done once*/r.done_at is null/*end*/ and r.dead_at is null
  order by r.id for update of r skip locked`;

export const setDone = (rowIds: readonly string[]): Query<unknown> =>
  sql`update outbox set done_at = now(), error = null where ${of()} and id = any (${rowIds}::uuid[])`;

export const hold = (rowId: string, seconds: number): Query<unknown> => sql`
  update outbox set dispatch_after = greatest(dispatch_after, now() + make_interval(secs => ${seconds}))
  where ${of()} and id = ${rowId}`;

/** Dead ones among them: the state is brought up to date for them too. */
export const lockAll = (name: JobName): Query<Omit<LockedRow, 'payload'>> => sql<Omit<LockedRow, 'payload'>>`
  select r.id, o.deleted_at is not null as "orgDeleted"
  from outbox r join orgs o on o.id = r.org_id
  where ${of('r')} and r.topic = ${name} and r.done_at is null
  order by r.id limit 5000 for update of r`;

export const noteError = (rowIds: readonly string[], text: string): Query<unknown> =>
  sql`update outbox set error = ${text} where ${of()} and id = any (${rowIds}::uuid[]) and done_at is null`;

/** Answers what runs a job by its name, as the queues hand it over. */
export function performer(
  pool: Pool,
  workers: Workers,
): (name: JobName, data: unknown, signal: AbortSignal) => Promise<Outcome> {
  return async (name, data, signal) => {
    const { askedBy } = jobOf(name);
    if (askedBy === 'schedule') {
      await scheduledWorker(workers, name)(signal);
      return 'done';
    }
    const { orgId, rowId, others = [] } = Ticket.parse(data);
    const delivery = { pool, name, orgId, signal };
    if (askedBy === 'batch') return performBatch(delivery, batchWorker(workers, name), [rowId, ...others]);
    return noting(delivery, [rowId], () =>
      askedBy === 'row'
        ? performRow(delivery, rowWorker(workers, name), rowId)
        : performRows(delivery, organizationWorker(workers, name)),
    );
  };
}

/** A job as it was handed over, this time. */
interface Delivery {
  readonly pool: Pool;
  readonly name: JobName;
  readonly orgId: string;
  /** Its time is up. */
  readonly signal: AbortSignal;
}

interface LockedRow {
  readonly id: string;
  readonly payload: unknown;
  readonly orgDeleted: boolean;
}

async function performRow(
  { pool, name, orgId, signal }: Delivery,
  worker: RowWorker<unknown>,
  rowId: string,
): Promise<Outcome> {
  const job = jobOf(name);
  const prepare = async (db: PlainDb): Promise<Sending | Outcome> => {
    const [row] = await db.all(lockRows([rowId], name));
    if (row === undefined) return 'skipped';
    const sending = row.orgDeleted
      ? undefined
      : await worker({ db, orgId, rowId, payload: job.payload.parse(row.payload) });
    if (sending === undefined) {
      db.later(setDone([rowId]));
      return row.orgDeleted ? 'skipped' : 'done';
    }
    db.later(hold(rowId, job.timeoutSeconds + holdMarginSeconds));
    return sending;
  };
  const prepared = await inOrganizationAsSystem(pool, orgId, (db) => within(signal, prepare(db)));
  if (typeof prepared === 'string') return prepared;
  const write = await inSpan(
    () => ({ name: 'send', kind: 'client' }),
    () => within(signal, prepared(signal)),
  );
  await inOrganizationAsSystem(pool, orgId, async (db) => {
    await write?.(db);
    db.later(setDone([rowId]));
  });
  return 'done';
}

/** All of them in one transaction; where that fails, each in its own, so that a bad one is alone with its error. */
async function performBatch(
  delivery: Delivery,
  worker: BatchWorker<unknown>,
  rowIds: readonly string[],
): Promise<Outcome> {
  const { pool, orgId, signal } = delivery;
  const inOneTransaction = (ids: readonly string[]): Promise<Outcome> =>
    inOrganizationAsSystem(pool, orgId, (db) => within(signal, workOnBatch(db, delivery, worker, ids)));
  if (rowIds.length > 1) {
    const outcome = await inOneTransaction(rowIds).catch(() => undefined);
    if (outcome !== undefined) return outcome;
  }
  const outcomes: Outcome[] = [];
  const failures = new Map<string, unknown>();
  for (const [index, rowId] of rowIds.entries()) {
    // Out of time are all that have not had their turn.
    const ids = signal.aborted ? rowIds.slice(index) : [rowId];
    await noting(delivery, ids, () => inOneTransaction([rowId])).then(
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
  { name, orgId }: Delivery,
  worker: BatchWorker<unknown>,
  rowIds: readonly string[],
): Promise<Outcome> {
  const rows = await db.all(lockRows(rowIds, name));
  if (rows[0] === undefined) return 'skipped';
  const { orgDeleted } = rows[0];
  const { payload } = jobOf(name);
  for (const row of orgDeleted ? [] : rows) {
    await worker({ db, orgId, rowId: row.id, payload: payload.parse(row.payload) });
  }
  db.later(setDone(rows.map(({ id }) => id)));
  return orgDeleted ? 'skipped' : 'done';
}

function performRows({ pool, name, orgId, signal }: Delivery, worker: OrganizationWorker): Promise<Outcome> {
  return inOrganizationAsSystem(pool, orgId, (db) =>
    within(
      signal,
      (async () => {
        // Whatever wrote these rows is committed, so the work, which reads after this, sees all of it.
        const rows = await db.all(lockAll(name));
        if (rows[0] === undefined) return 'skipped';
        if (!rows[0].orgDeleted) await worker({ db, orgId });
        db.later(setDone(rows.map((row) => row.id)));
        return rows[0].orgDeleted ? 'skipped' : 'done';
      })(),
    ),
  );
}

/** Leaves the error on the rows that it was about, for the operators' list. That the job failed is known without it. */
async function noting<Result>(
  { pool, orgId }: Delivery,
  rowIds: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    await inOrganizationAsSystem(pool, orgId, async (db) => {
      db.later(noteError(rowIds, text));
    }).catch(() => undefined);
    throw error;
  }
}

/** The contract says what asks for a job, and Workers what its worker looks like for that; by name TypeScript cannot follow. */
const rowWorker = (workers: Workers, name: JobName): RowWorker<unknown> =>
  workers[name as OutboxJobName] as RowWorker<unknown>;
const batchWorker = (workers: Workers, name: JobName): BatchWorker<unknown> =>
  workers[name as OutboxJobName] as BatchWorker<unknown>;
const organizationWorker = (workers: Workers, name: JobName): OrganizationWorker =>
  workers[name as OutboxJobName] as OrganizationWorker;
const scheduledWorker = (workers: Workers, name: JobName): ScheduledWorker =>
  workers[name as ScheduledJobName];
