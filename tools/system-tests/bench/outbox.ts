/**
 * Measures the work that follows writes, with the shipped worker. It counts the jobs per second through the
 * outbox, compared with BullMQ alone. It also measures the delay of a job on an idle worker, and the delay
 * until an expired lease is recorded.
 */
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { newId, type Pool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { foundOrg } from './data.ts';
import { type Effort } from './measure.ts';
import { median, type Quantiles, quantiles, type Spread, spread, verdict, whole } from './report.ts';
import { type Services } from './services.ts';

/** The number of jobs of one round on each side. */
export const jobsPerRound = 4_000;
const idleJobs = 100;
/**
 * The random pause between two jobs in milliseconds. It exceeds the relay's polling interval, so that jobs
 * arrive at any time of the interval.
 */
const idlePauseMillis = { least: 50, most: 350 };
const leases = 100;
/** The duration of the leases. The minimum is the shortest lease that is allowed. */
const leaseSeconds = { least: 5, most: 10 };
const patienceSeconds = 60;
/** The polling interval. Each poll counts rows and thereby takes processor time from the worker. */
const pollMillis = 100;

export const outboxGoals = { ratio: 0.3, idleP99Millis: 500 };

export interface OutboxSummary {
  readonly ratio: Spread;
  /** The jobs per second that Muster's outbox completed. */
  readonly ours: number;
  readonly theirs: number;
  readonly idleMillis: Quantiles;
  readonly expiryMillis: Quantiles;
}

/** Starts the shipped worker and BullMQ alone. Returns a function for each that runs jobs and returns their rate. */
export async function startOutbox(services: Services) {
  const postgres = await services.postgres();
  await migrate(postgres.url);
  const redisUrl = await services.redis();
  const owner = services.owner(postgres.url);
  const { orgId } = await foundOrg(owner, 'bench');
  await services.app('delivery-worker', await services.bundle('delivery-worker'), {
    DATABASE_URL: postgres.url,
    REDIS_URL: redisUrl,
    BASE_URL: 'https://muster.example',
    MAIL_FOLDER: tmpdir(),
  });
  const queue = await services.program('bare-queue.ts', { REDIS_URL: redisUrl });
  return {
    ...{ postgres, owner, orgId },
    throughOutbox: () => throughOutbox(owner, orgId),
    throughBullMq: async (): Promise<number> => (await queue.ask(jobsPerRound)) as number,
  };
}

export async function measureOutbox(
  services: Services,
  { rounds, say }: Pick<Effort, 'rounds' | 'say'>,
): Promise<OutboxSummary> {
  say('Starting PostgreSQL (fsync on), Redis, and delivery-worker');
  const { owner, orgId, ...run } = await startOutbox(services);
  await run.throughOutbox();
  await run.throughBullMq();
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    if (round % 2 === 0) ours.push(await run.throughOutbox());
    theirs.push(await run.throughBullMq());
    if (round % 2 === 1) ours.push(await run.throughOutbox());
    say(`Jobs, round ${round} of ${rounds}`);
  }
  const ratios = ours.map((rate, round) => rate / (theirs[round] ?? NaN));
  say('One job at a time');
  const idleMillis = await whereIdle(owner, orgId);
  say('Leases that end');
  const expiryMillis = await pastTheirTime(owner, orgId);
  return {
    ratio: spread(ratios),
    ours: median(ours),
    theirs: median(theirs),
    idleMillis,
    expiryMillis,
  };
}

/** Inserts outbox rows that name missing notifications. The job of such a row finds nothing and succeeds. */
const ask = (owner: Pool, orgId: string, count: number) =>
  owner.query(
    `insert into outbox (org_id, id, topic, payload)
     select $1, uuidv7(), 'notification.deliver', jsonb_build_object('notificationId', gen_random_uuid())
     from generate_series(1, $2::int)`,
    [orgId, count],
  );

/** Polls until the counting query returns zero. */
async function untilNone(owner: Pool, sql: string, parameters: readonly unknown[]): Promise<void> {
  for (const end = performance.now() + patienceSeconds * 1_000; performance.now() < end;) {
    const { rows } = await owner.query<{ left: number }>(sql, [...parameters]);
    if (rows[0]?.left === 0) return;
    await pause(pollMillis);
  }
  throw new Error('the worker does not come to an end');
}

const allDone = (owner: Pool, orgId: string) =>
  untilNone(
    owner,
    `select count(*)::int as left from outbox where org_id = $1 and topic = 'notification.deliver' and done_at is null`,
    [orgId],
  );

async function throughOutbox(owner: Pool, orgId: string): Promise<number> {
  await owner.query('delete from outbox where org_id = $1', [orgId]);
  await owner.query('vacuum outbox');
  await ask(owner, orgId, jobsPerRound);
  await allDone(owner, orgId);
  const { rows } = await owner.query<{ seconds: number; done: number }>(
    `select extract(epoch from max(done_at) - min(created_at))::float as seconds, count(*)::int as done
     from outbox where org_id = $1`,
    [orgId],
  );
  const [measured] = rows;
  if (measured?.done !== jobsPerRound) throw new Error('jobs are missing');
  return measured.done / measured.seconds;
}

/** Measures the time from the write of a row to the start of the transaction that handles its job. */
async function whereIdle(owner: Pool, orgId: string): Promise<Quantiles> {
  await owner.query('delete from outbox where org_id = $1', [orgId]);
  for (let job = 0; job < idleJobs; job += 1) {
    await ask(owner, orgId, 1);
    await allDone(owner, orgId);
    const { least, most } = idlePauseMillis;
    await pause(least + Math.random() * (most - least));
  }
  return lateness(
    owner,
    `select extract(epoch from done_at - created_at) * 1000 as millis from outbox where org_id = $1`,
    orgId,
  );
}

/** Measures the time from the expiry of a lease to the event about it. */
async function pastTheirTime(owner: Pool, orgId: string): Promise<Quantiles> {
  const projectId = newId();
  await owner.query(
    `insert into projects (org_id, id, key, name, visibility, origin) values ($1, $2, 'WEB', 'Web', 'org', 'hosted')`,
    [orgId, projectId],
  );
  await owner.query(
    `insert into leases (org_id, unit_type, unit_id, project_id, state, epoch, token_hash, holder, member_id, ttl_seconds, expires_at)
     select $1, 'coordination', gen_random_uuid(), $2, 'held', 1, sha256('x'), jsonb_build_object('name', 'Ana'),
       (select id from members where org_id = $1 limit 1), 5,
       clock_timestamp() + make_interval(secs => $3::float + random() * ($4::float - $3::float))
     from generate_series(1, $5::int)`,
    [orgId, projectId, leaseSeconds.least, leaseSeconds.most, leases],
  );
  await untilNone(owner, 'select count(*)::int as left from leases where org_id = $1 and not expiry_noted', [
    orgId,
  ]);
  return lateness(
    owner,
    `select extract(epoch from a.at - l.expires_at) * 1000 as millis
     from activity a join leases l on l.org_id = a.org_id and l.unit_id = (a.subject ->> 'id')::uuid
     where a.org_id = $1 and a.kind = 'lease.expired'`,
    orgId,
  );
}

async function lateness(owner: Pool, millisSql: string, orgId: string): Promise<Quantiles> {
  const { rows } = await owner.query<{ millis: number }>(`select millis::float8 from (${millisSql}) m`, [
    orgId,
  ]);
  return quantiles(rows.map(({ millis }) => millis));
}

/** Returns the results as readable text. */
export function renderOutbox({ ratio, ours, theirs, idleMillis, expiryMillis }: OutboxSummary): string {
  const { ratio: goal, idleP99Millis } = outboxGoals;
  return [
    `Jobs through the outbox: ${whole(ours)} a second, BullMQ alone ${whole(theirs)}: ` +
      `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)}), goal ≥ ${goal.toFixed(2)} ${verdict(ratio.median >= goal)}.`,
    `From a write to its handler where all is idle: ${whole(idleMillis.p50)} ms at the median, ` +
      `${whole(idleMillis.p99)} ms p99, goal ≤ ${idleP99Millis} ${verdict(idleMillis.p99 <= idleP99Millis)}.`,
    `From the end of a lease to its notice: ${whole(expiryMillis.p50)} ms at the median, ${whole(expiryMillis.p99)} ms p99.`,
  ].join('\n');
}
