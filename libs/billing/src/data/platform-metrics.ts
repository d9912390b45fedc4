/** The metrics of the installation. */
import { type Query, sql } from '@muster/driver';
import { isOutboxJob, jobNames } from '@muster/jobs';
import { type PlatformMetrics } from '@muster/contract';

interface MetricsRow {
  readonly at: string;
  readonly orgs: number;
  readonly accounts: number;
  readonly projects: number;
  readonly stories: number;
  readonly estimated: string[];
  readonly plans: Partial<PlatformMetrics['plans']>;
  readonly execution_states: Partial<PlatformMetrics['executions']>;
  readonly executions_estimated: boolean;
  readonly queues: PlatformMetrics['queues'];
  readonly outbox_lag_seconds: number;
  readonly operations_last_24h: number;
}

const metricsQuery = sql<MetricsRow>`
  select m.*, e.states as execution_states, e.estimated as executions_estimated
  from app.platform_metrics() m cross join app.platform_executions() e`;

/** The zero counts, so that states without executions are included. */
const zeroExecutionCounts: PlatformMetrics['executions'] = {
  available: 0,
  leased: 0,
  waiting_input: 0,
  stalled: 0,
  offered: 0,
  submitted: 0,
  completed: 0,
};

/** The zero counts of all kinds of queued jobs. */
const zeroQueueCounts: PlatformMetrics['queues'] = Object.fromEntries(
  jobNames.filter(isOutboxJob).map((name) => [name, { waiting: 0, active: 0, delayed: 0, failed: 0 }]),
);

type CountsByName = Readonly<Record<string, number>>;

const sumBy = (rows: readonly MetricsRow[], getCount: (row: MetricsRow) => number): number =>
  rows.reduce((sum, row) => sum + getCount(row), 0);

/** Returns, for each name, the sum of its counts. */
function sumCountsByName(countsOfServers: readonly CountsByName[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of countsOfServers)
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

/**
 * Reads the metrics of all servers together. An account with organizations on two servers is counted on both,
 * so with several servers the number of accounts is an estimate.
 */
export async function getPlatformMetrics(
  queryAllServers: <Row>(query: Query<Row>) => Promise<Row[][]>,
): Promise<PlatformMetrics> {
  const rows = (await queryAllServers(metricsQuery)).flat();
  const [own] = rows;
  if (own === undefined) throw new Error('a required row is missing');
  const estimated = [
    ...rows.flatMap((row) => row.estimated),
    ...(rows.some((row) => row.executions_estimated) ? ['executions'] : []),
    ...(rows.length > 1 ? ['accounts'] : []),
  ];
  const queues = Object.fromEntries(
    Object.entries(zeroQueueCounts).map(([name, nothing]) => [
      name,
      { ...nothing, ...sumCountsByName(rows.map((row) => ({ ...row.queues[name] }))) },
    ]),
  );
  return {
    orgs: sumBy(rows, (row) => row.orgs),
    accounts: sumBy(rows, (row) => row.accounts),
    projects: sumBy(rows, (row) => row.projects),
    stories: sumBy(rows, (row) => row.stories),
    estimated: [...new Set(estimated)],
    plans: { free: 0, team: 0, enterprise: 0, ...sumCountsByName(rows.map((row) => row.plans)) },
    executions: { ...zeroExecutionCounts, ...sumCountsByName(rows.map((row) => row.execution_states)) },
    queues,
    outboxLagSeconds: Math.max(...rows.map((row) => row.outbox_lag_seconds)),
    operationsLast24h: sumBy(rows, (row) => row.operations_last_24h),
    measuredAt: own.at,
  };
}
