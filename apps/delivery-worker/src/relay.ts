/**
 * Moves rows from the outbox to the queues. A row stays unprocessed until the transaction that does its work
 * marks it done. If that does not happen in time, the relay dispatches the row again. Redis may have lost the
 * job, or a worker may have died. The retry delay grows exponentially. Relays use `skip locked`, so that
 * several may run at the same time.
 */
import { orgFilter, type PlainDb, type Pool, type Query, sql } from '@muster/driver';
import { abandonDelivery } from '@muster/forges';
import { isOutboxJob, jobNames, jobDefinitionOf, jobs, maxBatchRows, type OutboxJobName } from '@muster/jobs';
import { reactions } from '@muster/operations';
import { type QueuedJob, type Queues } from '@muster/redis/queues';
import { runReactionsAndWriteTrail } from '@muster/runtime';
import {
  acrossOrganizations,
  type DomainEvent,
  inOrganizationAsSystem,
  notMovingCondition,
  systemAuditFacts,
  workerActor,
} from '@muster/tenancy';

export interface RelayOptions {
  readonly pool: Pool;
  readonly queues: Pick<Queues, 'enqueue' | 'waiting'>;
  /**
   * Seconds until a row that is not done is dispatched for the second time. Each further delay is twice as
   * long.
   */
  readonly firstRetryDelaySeconds?: number;
  readonly onDead: (row: DeadRow) => void;
}

export interface DeadRow {
  readonly orgId: string;
  readonly id: string;
  readonly topic: OutboxJobName;
}

interface ClaimedRow extends DeadRow {
  /** The number of attempts including this one. */
  readonly attempts: number;
  readonly traceParent: string | null;
}

/**
 * The delay before a row is dispatched for the second time. It is longer than the queues keep the job of a
 * killed worker. A job that is lost twice in a row is dispatched again within 10 s.
 */
export const defaultFirstRetryDelaySeconds = 4;
const maxRetryDelaySeconds = 3_600;
/** Maximum number of outbox rows of a topic that one relay turn claims. */
const batchSize = 500;
/**
 * The relay adds no job to a queue that has this many waiting jobs. Each job may be a batch, and all should
 * finish before the first is due again; otherwise rows are dispatched and counted in vain. A longer queue
 * would also delay the jobs behind it.
 */
const maxWaitingJobs = 500;

/** A job for many rows is linked to at most this many of their traces. */
const maxTraceParents = 16;

const outboxTopics = jobNames.filter(isOutboxJob);

/** Claims due rows by postponing their time, so that other relays do not see them. */
export const claimDueRows = (
  openTopics: readonly OutboxJobName[],
  firstRetryDelaySeconds: number,
): Query<ClaimedRow> => sql<ClaimedRow>`
  with due as (
    select d.org_id, d.id from unnest(${openTopics}::text[]) t (topic)
    cross join lateral (
      select o.org_id, o.id from outbox o
      where o.topic = t.topic and o.done_at is null and o.dead_at is null and o.dispatch_after <= now()
        and ${notMovingCondition(sql.part`o.org_id`)}
      order by o.dispatch_after limit ${batchSize} for update of o skip locked) d)
  update outbox o
  set /*guard: a job is done when it was done*/attempts = o.attempts + 1/*end*/, dispatch_after = now() + make_interval(secs => least(${firstRetryDelaySeconds} * 2 ^ o.attempts, ${maxRetryDelaySeconds}))
  from due where o.org_id = due.org_id and o.id = due.id
  returning o.org_id as "orgId", o.id, o.topic, o.attempts, o.trace_parent as "traceParent"`;

/** Makes rows that could not be queued due again in a second, without counting the attempt. */
export const unclaimRows = (rows: readonly DeadRow[]): Query<unknown> => sql`
  update outbox o set attempts = o.attempts - 1, dispatch_after = now() + interval '1 second'
  from unnest(${rows.map(({ orgId }) => orgId)}::uuid[], ${rows.map(({ id }) => id)}::uuid[]) given (org_id, id)
  where o.org_id = given.org_id and o.id = given.id and o.done_at is null`;

export const markRowDead = (rowId: string): Query<{ payload: unknown }> => sql<{ payload: unknown }>`
  update outbox set dead_at = now(), attempts = attempts - 1
  where ${orgFilter()} and id = ${rowId} and done_at is null and dead_at is null returning payload`;

const abandonForgeDelivery = (db: PlainDb, payload: unknown): Promise<DomainEvent[]> =>
  abandonDelivery(db, jobs['forge.translate'].payload.parse(payload).deliveryId);

/**
 * Runs one turn of the relay: claims due outbox rows, marks rows without attempts left as dead, and queues
 * the other rows.
 */
export async function runRelayTurn(options: RelayOptions): Promise<'more' | 'rest'> {
  const waiting = await options.queues.waiting();
  const open = outboxTopics.filter((topic) => waiting[jobDefinitionOf(topic).queue] < maxWaitingJobs);
  if (open.length === 0) return 'rest';
  const rows = await acrossOrganizations(options.pool, (db) =>
    db.all(claimDueRows(open, options.firstRetryDelaySeconds ?? defaultFirstRetryDelaySeconds)),
  );
  const exhausted = rows.filter((row) => row.attempts > jobDefinitionOf(row.topic).attempts);
  const alive = rows.filter((row) => row.attempts <= jobDefinitionOf(row.topic).attempts);
  try {
    if (alive.length > 0) await options.queues.enqueue(createJobs(alive));
  } catch (error) {
    await acrossOrganizations(options.pool, (db) => db.all(unclaimRows(alive)));
    throw error;
  }
  for (const row of exhausted) await markDeadAndReport(options, row);
  return open.some((topic) => rows.filter((row) => row.topic === topic).length === batchSize)
    ? 'more'
    : 'rest';
}

/** Creates one job per row, or one for rows that share a job. Only first attempts are batched. */
function createJobs(rows: readonly ClaimedRow[]): QueuedJob[] {
  const shares = Map.groupBy(rows, ({ topic, orgId, id, attempts }) => {
    const { trigger } = jobDefinitionOf(topic);
    return trigger === 'rows' || (trigger === 'batch' && attempts === 1) ? `${topic} ${orgId}` : id;
  });
  return [...shares.values()].flatMap(createJobsForGroup);
}

/** Creates jobs for rows of the same topic and organization. */
function createJobsForGroup(rows: readonly ClaimedRow[]): QueuedJob[] {
  const [first, ...others] = rows;
  if (first === undefined) return [];
  const { topic: name, orgId, id: rowId } = first;
  if (jobDefinitionOf(name).trigger !== 'batch' || others.length === 0)
    return [{ name, ticket: { orgId, rowId }, traceParents: traceParentsOf(rows) }];
  const batch = rows.slice(0, maxBatchRows);
  const ticket = { orgId, rowId, others: batch.slice(1).map(({ id }) => id) };
  return [
    { name, ticket, traceParents: traceParentsOf(batch) },
    ...createJobsForGroup(rows.slice(maxBatchRows)),
  ];
}

const traceParentsOf = (rows: readonly ClaimedRow[]): string[] =>
  rows.flatMap(({ traceParent }) => traceParent ?? []).slice(0, maxTraceParents);

async function markDeadAndReport({ pool, onDead }: RelayOptions, row: DeadRow): Promise<void> {
  const buried = await inOrganizationAsSystem(pool, row.orgId, async (db) => {
    const found = await db.find(markRowDead(row.id));
    if (found === undefined) return false;
    const facts = systemAuditFacts(`worker.abandon.${row.topic}`, row.id);
    const domainEvents = row.topic === 'forge.translate' ? await abandonForgeDelivery(db, found.payload) : [];
    await runReactionsAndWriteTrail(
      db,
      { orgId: row.orgId, actor: workerActor, domainEvents, facts },
      reactions,
    );
    return true;
  });
  if (buried) onDead(row);
}
