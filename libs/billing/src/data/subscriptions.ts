import { type DB, type Db, newId, orgFilter, currentOrgId, type Query, sql } from '@muster/driver';
import { type TimeRange, findPeriodContaining } from '@muster/organizations';
import { type Actor, type Proration, type Subject, subjectOf, type Subscription } from '@muster/contract';
import { type Selectable } from 'kysely';

export type SubscriptionRow = Selectable<DB['subscriptions']>;

/** Reads the organization's only subscription. lockSeats locks it. */
export const getSubscription = (db: Db): Promise<SubscriptionRow> =>
  db.one(
    sql<SubscriptionRow>`select org_id, plan, status, seats, current_period_start, current_period_end, created_at, updated_at, version from subscriptions where ${orgFilter()}`,
  );

/** Returns the billing period that contains `at`. */
export const getBillingPeriod = (row: SubscriptionRow, time: string): TimeRange =>
  findPeriodContaining(
    { start: row.current_period_start, end: row.current_period_end },
    row.created_at,
    time,
  );

export const toSubscription = (row: SubscriptionRow, period: TimeRange): Subscription => ({
  id: row.org_id,
  plan: row.plan,
  status: row.status,
  seats: row.seats,
  currentPeriodStart: period.start,
  currentPeriodEnd: period.end,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

export const toSubscriptionEventSubject = ({ org_id, plan }: SubscriptionRow): Subject =>
  subjectOf('subscription', { id: org_id }, plan);

const changeableColumns = [
  'seats',
  'current_period_start',
  'current_period_end',
  'updated_at',
  'version',
] as const;

/** Writes the changeable columns of a locked subscription. */
export const updateSubscription = (row: SubscriptionRow): Query<unknown> =>
  sql`${sql.update('subscriptions', changeableColumns, row)} where ${orgFilter()}`;

interface LedgerLine {
  readonly actor: Actor;
  readonly fromSeats: number;
  readonly proration: Proration;
}

/** Inserts the ledger line of a change, with the actor, the new state and the cost. */
export const insertLedgerLine = (
  row: SubscriptionRow,
  { actor, fromSeats, proration }: LedgerLine,
): Query<unknown> =>
  sql`insert into seat_ledger
       (org_id, id, version, at, actor, from_seats, to_seats, amount, currency, lines, period_start, period_end)
     values (${currentOrgId}, ${newId()}, ${row.version}, ${row.updated_at}, ${actor}, ${fromSeats}, ${row.seats}, ${proration.amount}, ${proration.currency}, ${JSON.stringify(proration.lines)}, ${row.current_period_start}, ${row.current_period_end})`;
