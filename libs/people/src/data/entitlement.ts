import { type Db, type Param, query, sqlQuery, statement } from '@muster/database';
import { type Entitlement } from '@muster/registry';
import { planFeatures, planLimits } from '../rules/entitlement.ts';

const subscriptionOf = statement((param: Param<{ orgId: string }>) =>
  query
    .selectFrom('subscriptions')
    .select(['plan', 'status', 'seats', 'current_period_end'])
    .where('org_id', '=', param('orgId')),
);

/** Owner, admin and member hold a seat; a viewer does not. */
const seatsTaken = `select count(*) from members where org_id = $1 and status = 'active' and role <> 'viewer'`;

/** How many seats are taken. */
export async function getSeatsTaken(db: Db, orgId: string): Promise<number> {
  return (await db.one(sqlQuery<{ count: number }>(seatsTaken, [orgId]))).count;
}

/** How many seats were bought; who else gives one away waits until this transaction ends. */
export async function lockSeats(db: Db, orgId: string): Promise<number> {
  const subscription = await db.one(
    query.selectFrom('subscriptions').select('seats').where('org_id', '=', orgId).forNoKeyUpdate(),
  );
  return subscription.seats;
}

/** Archived projects count: they can be brought back at any time. */
const usageOf = (orgId: string) =>
  sqlQuery<{ seats: number; projects: number }>(
    `select (${seatsTaken}) as seats, (select count(*) from projects where org_id = $1) as projects`,
    [orgId],
  );

/** What the organization's plan allows, and what is used of it. */
export async function getEntitlement(db: Db, orgId: string): Promise<Entitlement> {
  const [subscription, usage] = await Promise.all([
    db.one(subscriptionOf({ orgId })),
    db.one(usageOf(orgId)),
  ]);
  return {
    plan: subscription.plan,
    status: subscription.status,
    features: planFeatures(subscription.plan),
    limits: { ...planLimits(subscription.plan), seats: subscription.seats },
    usage: { seats: usage.seats, projects: usage.projects, agentsInCatalog: 0 },
    currentPeriodEnd: subscription.current_period_end,
  };
}
