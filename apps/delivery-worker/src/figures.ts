/** What operators look at: how much waits, how late it is, what died; how much is worked on, and how much of it stalls. */
import { acrossOrganizations, type Pool, sql } from '@muster/database';
import { type Queues } from '@muster/queue';
import { type ExecutionState, executionStates } from '@muster/registry';
import { type Figure, type Metrics } from '@muster/http';

/** Shorter than any scrape's pause. */
const rememberMillis = 500;

interface TopicFigures {
  readonly topic: string;
  readonly undone: number;
  /** Seconds since the oldest undone one was written; null where none is. */
  readonly oldest: number | null;
  /** Seconds for which the latest of those that could be dispatched have waited for it; null where none does. */
  readonly lag: number | null;
  readonly dead: number;
}

export const topicFigures = sql<TopicFigures>`
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

const openStates = executionStates.filter((state) => state !== 'completed');

interface LeaseFigures {
  readonly live: number;
  readonly expired: number;
  /** Seconds; null where all that expired was noted. */
  readonly lag: number | null;
}

export const leaseFigures = sql<LeaseFigures>`
  select count(*) filter (where expires_at > now())::int as live, count(*) filter (where expires_at <= now())::int as expired,
    extract(epoch from now() - min(expires_at) filter (where expires_at <= now() and not expiry_noted))::float as lag
  from leases where state = 'held'`;

export const deletions = sql<{ projects: number; orgs: number }>`
  select (select count(*)::int from projects where deleted_at is not null) as projects,
    (select count(*)::int from orgs where deleted_at < now() - interval '30 days') as orgs`;

interface WebhookFigures {
  readonly active: number;
  readonly failing: number;
  readonly paused: number;
  /** Seconds for which the first that is due has waited for a worker; null where none does. */
  readonly lag: number | null;
}

export const webhookFigures = sql<WebhookFigures>`
  select count(*) filter (where paused_at is null and failing = 0)::int as active,
    count(*) filter (where paused_at is null and failing > 0)::int as failing,
    count(*) filter (where paused_at is not null)::int as paused,
    extract(epoch from now() - min(next_at) filter (where next_at <= now() and (worker_until is null or worker_until < now())))::float as lag
  from webhooks where deleted_at is null`;

/** Figures that are asked for together are looked up once. */
function shared<Rows>(look: () => Promise<Rows>): () => Promise<Rows> {
  let last: { readonly rows: Promise<Rows>; readonly until: number } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || last.until < now) last = { rows: look(), until: now + rememberMillis };
    return last.rows;
  };
}

export function addFigures(metrics: Metrics, pool: Pool, queues: Pick<Queues, 'counts'>): void {
  const topics = shared(() => acrossOrganizations(pool, (db) => db.all(topicFigures)));
  const leases = shared(() => acrossOrganizations(pool, (db) => db.one(leaseFigures)));
  const ofTopics = (pick: (row: TopicFigures) => number) => async (): Promise<Figure[]> =>
    (await topics()).map((row) => ({ labels: { topic: row.topic }, value: pick(row) }));
  const perTopic: [string, string, (row: TopicFigures) => number][] = [
    ['muster_outbox_undone', 'Rows of the outbox that are not done', (row) => row.undone],
    [
      'muster_outbox_oldest_undone_seconds',
      'Age of the oldest row that is not done',
      (row) => row.oldest ?? 0,
    ],
    [
      'muster_outbox_lag_seconds',
      'For how long rows that are due have waited for their dispatch',
      (row) => row.lag ?? 0,
    ],
    ['muster_outbox_dead', 'Rows that were given up and wait for a replay', (row) => row.dead],
  ];
  for (const [name, help, pick] of perTopic) metrics.figures(name, help, ['topic'], ofTopics(pick));

  metrics.figures('muster_executions', 'Executions that are not completed, by state', ['state'], async () => {
    const rows = await acrossOrganizations(pool, (db) =>
      db.all(sql<ExecutionFigures>`select state, executions::int from app.open_executions()`),
    );
    return openStates.map((state) => ({
      labels: { state },
      value: rows.find((row) => row.state === state)?.executions ?? 0,
    }));
  });
  const ofLeases = (pick: (row: LeaseFigures) => Figure[]) => async (): Promise<Figure[]> =>
    pick(await leases());
  metrics.figures(
    'muster_leases',
    'Leases that somebody holds, live or past their time',
    ['state'],
    ofLeases(({ live, expired }) => [
      { labels: { state: 'live' }, value: live },
      { labels: { state: 'expired' }, value: expired },
    ]),
  );
  metrics.figures(
    'muster_lease_sweep_lag_seconds',
    'For how long a lease has been past its time without anybody being told',
    [],
    ofLeases(({ lag }) => [{ labels: {}, value: lag ?? 0 }]),
  );

  metrics.figures(
    'muster_deletions',
    'Projects and organizations that were deleted, and whose rows are still to be removed',
    ['of'],
    async () => {
      const { projects, orgs } = await acrossOrganizations(pool, (db) => db.one(deletions));
      return [
        { labels: { of: 'projects' }, value: projects },
        { labels: { of: 'organizations' }, value: orgs },
      ];
    },
  );

  const webhooks = shared(() => acrossOrganizations(pool, (db) => db.one(webhookFigures)));
  metrics.figures(
    'muster_webhooks',
    'Endpoints of webhooks: active, failing since their last try, or paused',
    ['state'],
    async () => {
      const { active, failing, paused } = await webhooks();
      return Object.entries({ active, failing, paused }).map(([state, value]) => ({
        labels: { state },
        value,
      }));
    },
  );
  metrics.figures(
    'muster_webhook_lag_seconds',
    'For how long a webhook that is due has waited for a worker',
    [],
    async () => [{ labels: {}, value: (await webhooks()).lag ?? 0 }],
  );

  metrics.figures('muster_queue_jobs', 'Jobs in the queues by state', ['queue', 'state'], async () =>
    Object.entries(await queues.counts()).flatMap(([queue, counts]) =>
      Object.entries(counts).map(([state, value]: [string, number]) => ({ labels: { queue, state }, value })),
    ),
  );
}
