import { type Db, orgFilter, sql } from '@muster/driver';
import { type Entitlement, type Plan } from '@muster/contract';
import { planFeatures, planLimits } from '../rules/entitlement.ts';
import { findPeriodContaining } from '../rules/periods.ts';
import { seatCountQueries } from './seats.ts';

interface EntitlementRow {
  readonly plan: Plan;
  readonly status: Entitlement['status'];
  readonly seats: number;
  readonly current_period_start: string;
  readonly current_period_end: string;
  readonly created_at: string;
  readonly at: string;
  readonly held: number;
  readonly projects: number;
  readonly agents_in_catalog: number;
}

/** Counts archived projects too, because they can be restored at any time. */
const entitlementQuery = () =>
  sql<EntitlementRow>`select s.plan, s.status, s.seats, s.current_period_start, s.current_period_end, s.created_at,
       now()::timestamptz(3) as at, ${seatCountQueries.used} + ${seatCountQueries.pending} as held,
       (select count(*) from projects where ${orgFilter()}) as projects,
       (select count(*) from catalog_agents where ${orgFilter()}) as agents_in_catalog
     from subscriptions s where ${orgFilter('s')}`;

/**
 * Returns the limits of the organization's plan and their usage. A seat reserved by an invitation counts as
 * used.
 */
export async function getEntitlement(db: Db): Promise<Entitlement> {
  const row = await db.one(entitlementQuery());
  const period = findPeriodContaining(
    { start: row.current_period_start, end: row.current_period_end },
    row.created_at,
    row.at,
  );
  return {
    plan: row.plan,
    status: row.status,
    features: planFeatures(row.plan),
    limits: { ...planLimits(row.plan), seats: row.seats },
    usage: { seats: row.held, projects: row.projects, agentsInCatalog: row.agents_in_catalog },
    currentPeriodEnd: period.end,
  };
}
