/** The installation in numbers. */
import { type Db, sqlQuery } from '@muster/database';
import { type PlatformMetrics } from '@muster/registry';

interface MetricsRow {
  readonly at: string;
  readonly orgs: number;
  readonly accounts: number;
  readonly projects: number;
  readonly stories: number;
  readonly estimated: string[];
  readonly plans: Partial<PlatformMetrics['plans']>;
  readonly queues: PlatformMetrics['queues'];
  readonly outbox_lag_seconds: number;
  readonly operations_last_24h: number;
}

export async function getMetrics(db: Db): Promise<PlatformMetrics> {
  const row = await db.one(sqlQuery<MetricsRow>('select * from app.platform_metrics()', []));
  return {
    orgs: row.orgs,
    accounts: row.accounts,
    projects: row.projects,
    stories: row.stories,
    estimated: row.estimated,
    plans: { free: 0, team: 0, enterprise: 0, ...row.plans },
    executions: {},
    queues: row.queues,
    outboxLagSeconds: row.outbox_lag_seconds,
    operationsLast24h: row.operations_last_24h,
    measuredAt: row.at,
  };
}
