/** Metrics for operators: waiting, late and dead jobs, and executions by state. */
import { type Pool, type Query, sql } from '@muster/driver';
import { allNodes } from '@muster/placement';
import { type Queues } from '@muster/redis/queues';
import { type ExecutionState, executionStates } from '@muster/contract';
import { type GaugeValue, type Metrics } from '@muster/http';
import { acrossOrganizations } from '@muster/tenancy';

/** Cache duration, shorter than any scrape interval. */
const figuresCacheMillis = 500;

interface TopicFigures {
  readonly topic: string;
  readonly undone: number;
  /** Age of the oldest row that is not done, in seconds; null if there is none. */
  readonly oldest: number | null;
  /** Seconds for which the longest-waiting dispatchable row has waited; null if there is none. */
  readonly lag: number | null;
  readonly dead: number;
}

export const topicFiguresQuery = sql<TopicFigures>`
  select topic,
    count(*) filter (where dead_at is null)::int as undone,
    extract(epoch from now() - min(created_at) filter (where dead_at is null))::float as oldest,
    extract(epoch from now() - min(dispatch_after) filter (where dead_at is null and dispatch_after <= now()))::float as lag,
    count(*) filter (where dead_at is not null)::int as dead
  from outbox where done_at is null group by topic`;

interface ExecutionFigures {
  readonly state: ExecutionState;
  readonly executions: number;
}

const executionFiguresQuery = sql<ExecutionFigures>`select state, executions::int from app.open_executions()`;

const openStates = executionStates.filter((state) => state !== 'completed');

interface LeaseFigures {
  readonly live: number;
  readonly expired: number;
  /** Seconds since the earliest expiry that is not recorded yet; null if there is none. */
  readonly lag: number | null;
}

export const leaseFiguresQuery = sql<LeaseFigures>`
  select count(*) filter (where expires_at > now())::int as live, count(*) filter (where expires_at <= now())::int as expired,
    extract(epoch from now() - min(expires_at) filter (where expires_at <= now() and not expiry_noted))::float as lag
  from leases where state = 'held'`;

export const deletionFiguresQuery = sql<{ projects: number; orgs: number }>`
  select (select count(*)::int from projects where deleted_at is not null) as projects,
    (select count(*)::int from orgs where deleted_at < now() - interval '30 days') as orgs`;

interface WebhookFigures {
  readonly active: number;
  readonly failing: number;
  readonly paused: number;
  /** Seconds for which the first due webhook has waited for a worker; null if none is due. */
  readonly lag: number | null;
}

export const webhookFiguresQuery = sql<WebhookFigures>`
  select count(*) filter (where paused_at is null and failing = 0)::int as active,
    count(*) filter (where paused_at is null and failing > 0)::int as failing,
    count(*) filter (where paused_at is not null)::int as paused,
    extract(epoch from now() - min(next_at) filter (where next_at <= now() and (worker_until is null or worker_until < now())))::float as lag
  from webhooks where deleted_at is null`;

/** Caches the result, so that figures scraped together share a query. */
function cacheRows<Rows>(readRows: () => Promise<Rows>): () => Promise<Rows> {
  let last: { readonly rows: Promise<Rows>; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || last.until < now) last = { rows: readRows(), until: now + figuresCacheMillis };
    return last.rows;
  };
}

/** Queries every server. A server that fails is left out unless all of them fail. */
async function queryEachNode<Row>(pool: Pool, query: Query<Row>): Promise<Row[]> {
  const looks = allNodes(pool).map((at) => acrossOrganizations(at.pool, (db) => db.all(query)));
  const settled = await Promise.allSettled(looks);
  const answers = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [failed] = settled;
  if (answers.length === 0 && failed?.status === 'rejected') throw failed.reason;
  return answers.flat();
}

const sumOf = <Row>(rows: readonly Row[], getValue: (row: Row) => number): number =>
  rows.reduce((sum, row) => sum + getValue(row), 0);
const maxOf = <Row>(rows: readonly Row[], getValue: (row: Row) => number | null): number =>
  Math.max(0, ...rows.map((row) => getValue(row) ?? 0));

export function addFigures(metrics: Metrics, pool: Pool, queues: Pick<Queues, 'counts'>): void {
  addOutboxFigures(metrics, pool);
  addExecutionFigures(metrics, pool);
  addLeaseFigures(metrics, pool);
  addDeletionFigures(metrics, pool);
  addWebhookFigures(metrics, pool);
  addQueueFigures(metrics, queues);
}

/** Figures of the outbox: name, description, and the function that computes them from a topic's rows. */
const outboxFigures: readonly [string, string, (rows: readonly TopicFigures[]) => number][] = [
  ['muster_outbox_undone', 'Outbox rows that are not done', (rows) => sumOf(rows, (row) => row.undone)],
  [
    'muster_outbox_oldest_undone_seconds',
    'Age of the oldest outbox row that is not done',
    (rows) => maxOf(rows, (row) => row.oldest),
  ],
  [
    'muster_outbox_lag_seconds',
    'How long due rows have waited to be dispatched',
    (rows) => maxOf(rows, (row) => row.lag),
  ],
  [
    'muster_outbox_dead',
    'Outbox rows whose job failed on all attempts and that wait for a replay by an operator',
    (rows) => sumOf(rows, (row) => row.dead),
  ],
];

function addOutboxFigures(metrics: Metrics, pool: Pool): void {
  const topics = cacheRows(() => queryEachNode(pool, topicFiguresQuery));
  const ofTopics = (figure: (rows: readonly TopicFigures[]) => number) => async (): Promise<GaugeValue[]> =>
    [...Map.groupBy(await topics(), ({ topic }) => topic)].map(([topic, rows]) => ({
      labels: { topic },
      value: figure(rows),
    }));
  for (const [name, help, figure] of outboxFigures)
    metrics.addGauges(name, help, ['topic'], ofTopics(figure));
}

function addExecutionFigures(metrics: Metrics, pool: Pool): void {
  metrics.addGauges(
    'muster_executions',
    'Executions that are not completed, by state',
    ['state'],
    async () => {
      const rows = await queryEachNode(pool, executionFiguresQuery);
      return openStates.map((state) => ({
        labels: { state },
        value: sumOf(
          rows.filter((row) => row.state === state),
          (row) => row.executions,
        ),
      }));
    },
  );
}

function addLeaseFigures(metrics: Metrics, pool: Pool): void {
  const leases = cacheRows(() => queryEachNode(pool, leaseFiguresQuery));
  metrics.addGauges('muster_leases', 'Leases that are held, live or expired', ['state'], async () => {
    const rows = await leases();
    return [
      { labels: { state: 'live' }, value: sumOf(rows, (row) => row.live) },
      { labels: { state: 'expired' }, value: sumOf(rows, (row) => row.expired) },
    ];
  });
  metrics.addGauges(
    'muster_lease_sweep_lag_seconds',
    'The longest time for which a lease has been expired without its holder being notified',
    [],
    async () => [{ labels: {}, value: maxOf(await leases(), (row) => row.lag) }],
  );
}

function addDeletionFigures(metrics: Metrics, pool: Pool): void {
  metrics.addGauges(
    'muster_deletions',
    'Deleted projects and organizations whose rows are still to be removed',
    ['of'],
    async () => {
      const rows = await queryEachNode(pool, deletionFiguresQuery);
      return [
        { labels: { of: 'projects' }, value: sumOf(rows, (row) => row.projects) },
        { labels: { of: 'organizations' }, value: sumOf(rows, (row) => row.orgs) },
      ];
    },
  );
}

function addWebhookFigures(metrics: Metrics, pool: Pool): void {
  const webhooks = cacheRows(() => queryEachNode(pool, webhookFiguresQuery));
  metrics.addGauges(
    'muster_webhooks',
    'Webhooks by state: active, failing since their last attempt, or paused',
    ['state'],
    async () => {
      const rows = await webhooks();
      return (['active', 'failing', 'paused'] as const).map((state) => ({
        labels: { state },
        value: sumOf(rows, (row) => row[state]),
      }));
    },
  );
  metrics.addGauges(
    'muster_webhook_lag_seconds',
    'How long a due webhook has waited for a worker',
    [],
    async () => [{ labels: {}, value: maxOf(await webhooks(), (row) => row.lag) }],
  );
}

function addQueueFigures(metrics: Metrics, queues: Pick<Queues, 'counts'>): void {
  metrics.addGauges('muster_queue_jobs', 'Jobs in the queues by state', ['queue', 'state'], async () =>
    Object.entries(await queues.counts()).flatMap(([queue, counts]) =>
      Object.entries(counts).map(([state, value]: [string, number]) => ({ labels: { queue, state }, value })),
    ),
  );
}
