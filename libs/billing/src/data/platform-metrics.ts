/** The installation in numbers. */
import { type Db, sql } from '@muster/database';
import { isOutboxJob, jobNames } from '@muster/jobs';
import { type PlatformMetrics } from '@muster/registry';

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

const metrics = sql<MetricsRow>`
  select m.*, e.states as execution_states, e.estimated as executions_estimated
  from app.platform_metrics() m cross join app.platform_executions() e`;

/** Each state is there, also where nothing is in it. */
const noExecutions: PlatformMetrics['executions'] = {
  available: 0,
  leased: 0,
  waiting_input: 0,
  stalled: 0,
  offered: 0,
  submitted: 0,
  completed: 0,
};

/** Likewise of the work that follows from writes. */
const nothingQueued: PlatformMetrics['queues'] = Object.fromEntries(
  jobNames.filter(isOutboxJob).map((name) => [name, { waiting: 0, active: 0, delayed: 0, failed: 0 }]),
);

export async function getMetrics(db: Db): Promise<PlatformMetrics> {
  const row = await db.one(metrics);
  return {
    orgs: row.orgs,
    accounts: row.accounts,
    projects: row.projects,
    stories: row.stories,
    estimated: [...row.estimated, ...(row.executions_estimated ? ['executions'] : [])],
    plans: { free: 0, team: 0, enterprise: 0, ...row.plans },
    executions: { ...noExecutions, ...row.execution_states },
    queues: { ...nothingQueued, ...row.queues },
    outboxLagSeconds: row.outbox_lag_seconds,
    operationsLast24h: row.operations_last_24h,
    measuredAt: row.at,
  };
}
