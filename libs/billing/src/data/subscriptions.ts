import {
  type DB,
  type Db,
  newId,
  type Param,
  type Query,
  query,
  sqlQuery,
  statement,
} from '@muster/database';
import { type Period, rollForward } from '@muster/people';
import { type Actor, type Proration, type Subject, type Subscription } from '@muster/registry';
import { type Selectable } from 'kysely';

export type SubscriptionRow = Selectable<DB['subscriptions']>;

const byOrganization = statement((param: Param<{ orgId: string }>) =>
  query
    .selectFrom('subscriptions')
    .select([
      'org_id',
      'plan',
      'status',
      'seats',
      'current_period_start',
      'current_period_end',
      'created_at',
      'updated_at',
      'version',
    ])
    .where('org_id', '=', param('orgId')),
);

/** The organization's subscription; each has one. Locked by lockSeats. */
export const getSubscription = (db: Db, orgId: string): Promise<SubscriptionRow> =>
  db.one(byOrganization({ orgId }));

/** The period that `at` is in. */
export const periodOf = (row: SubscriptionRow, at: string): Period =>
  rollForward({ start: row.current_period_start, end: row.current_period_end }, row.created_at, at);

export const toSubscription = (row: SubscriptionRow, period: Period): Subscription => ({
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

export const aboutSubscription = ({ org_id, plan }: SubscriptionRow): Subject => ({
  type: 'subscription',
  id: org_id,
  key: null,
  title: plan,
  projectId: null,
});

const update = statement((param: Param<SubscriptionRow>) =>
  query
    .updateTable('subscriptions')
    .set({
      seats: param('seats'),
      current_period_start: param('current_period_start'),
      current_period_end: param('current_period_end'),
      updated_at: param('updated_at'),
      version: param('version'),
    })
    .where('org_id', '=', param('org_id')),
);

/** Writes what can change of a locked subscription. */
export const setSubscription = (row: SubscriptionRow): Query<unknown> => update(row);

interface LedgerLine {
  readonly actor: Actor;
  readonly fromSeats: number;
  readonly proration: Proration;
}

/** The line of the ledger that says who made the subscription what it is now, and what it cost. */
export const insertLedgerLine = (
  row: SubscriptionRow,
  { actor, fromSeats, proration }: LedgerLine,
): Query<unknown> =>
  sqlQuery(
    `insert into seat_ledger
       (org_id, id, version, at, actor, from_seats, to_seats, amount, currency, lines, period_start, period_end)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      row.org_id,
      newId(),
      row.version,
      row.updated_at,
      actor,
      fromSeats,
      row.seats,
      proration.amount,
      proration.currency,
      JSON.stringify(proration.lines),
      row.current_period_start,
      row.current_period_end,
    ],
  );
