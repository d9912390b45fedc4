/** The deliveries of a webhook endpoint, as callers see them. */
import {
  CursorId,
  type Db,
  decodeCursor,
  newId,
  orgFilter,
  currentOrgId,
  type Page,
  pageOfRows,
  type Part,
  type Query,
  type RowOf,
  sql,
  defineView,
  limitToPageBytes,
} from '@muster/driver';
import { type ActivityItem, type ParamsOf, type WebhookDelivery, webhookTestKind } from '@muster/contract';
import { type NotificationsRegistry } from '@muster/notifications-registry';
import { z } from 'zod';
import { activityView as activityItems } from './activity.ts';

/** The number of days for which deliveries are stored and can be sent again. */
export const deliveryRetentionDays = 30;
/** The maximum number of deliveries in one replay. */
export const maxReplayedDeliveries = 10_000;
/** The maximum number of pending tests of one endpoint. */
export const maxPendingTests = 10;

const deliveries = defineView(
  'webhook_deliveries',
  'd',
  ['id', 'webhook_id', 'event_id', 'seq', 'kind', 'state', 'tries', 'next_at', 'done_at', 'created_at'],
  ['activity_seq', 'audit_seq', 'event_at', 'answer'],
);
export type DeliveryRow = RowOf<typeof deliveries>;

export function toDelivery(row: DeliveryRow): WebhookDelivery {
  const { nextAt, ...shown } = deliveries.shown(row);
  return { ...shown, nextTryAt: nextAt };
}

/** Locks a delivery. Its endpoint must be locked already. */
export const lockDelivery = (db: Db, id: string): Promise<DeliveryRow> =>
  db.get(
    sql<DeliveryRow>`select ${deliveries.list} from webhook_deliveries d where ${orgFilter('d')} and d.id = ${id} for update`,
  );

export const getDelivery = (db: Db, id: string): Promise<DeliveryRow> =>
  db.get(
    sql<DeliveryRow>`select ${deliveries.list} from webhook_deliveries d where ${orgFilter('d')} and d.id = ${id}`,
  );

/** Reads the event of a delivery. Events are stored longer than deliveries. */
export async function getEventOfDelivery(
  db: Db,
  { activity_seq: seq, event_at: at }: DeliveryRow,
): Promise<ActivityItem> {
  const row = await db.get(
    sql<Parameters<typeof activityItems.shown>[0]>`select ${activityItems.list} from activity e
      where ${orgFilter('e')} and e.seq = ${seq} and e.at = ${at}::timestamptz`,
  );
  return activityItems.shown(row);
}

export const countPendingTests = async (db: Db, webhookId: string): Promise<number> =>
  (
    await db.one(
      sql<{ count: number }>`select count(*) from webhook_deliveries d
        where ${orgFilter('d')} and d.webhook_id = ${webhookId} and d.state = 'pending' and d.seq is null`,
    )
  ).count;

/** Creates a test delivery that is due now. */
export function newTestDelivery(webhookId: string, at: string): DeliveryRow {
  const nothing = { seq: null, activity_seq: null, audit_seq: null, answer: null, done_at: null };
  const tries: DeliveryRow['tries'] = [];
  return {
    ...{ ...nothing, tries, id: newId(), webhook_id: webhookId, event_id: newId(), kind: webhookTestKind },
    ...{ state: 'pending', event_at: at, next_at: at, created_at: at },
  };
}

export const insertDelivery = (row: DeliveryRow): Query<unknown> =>
  sql`insert into webhook_deliveries (org_id, id, webhook_id, event_id, kind, event_at, next_at, created_at)
    select ${currentOrgId}, ${row.id}::uuid, ${row.webhook_id}::uuid, ${row.event_id}::uuid, ${row.kind}::text,
      ${row.event_at}::timestamptz, ${row.next_at}::timestamptz, ${row.created_at}::timestamptz`;

/**
 * Returns the time at which a delivery becomes due. Deliveries of a paused endpoint have no due time until
 * the endpoint is resumed.
 */
const dueTimeSql = (isPaused: boolean): Part => (isPaused ? sql.part`null::timestamptz` : sql.part`now()`);

/** Schedules a delivery again, with a fresh count of attempts. */
export const rescheduleDelivery = (id: string, isPaused: boolean): Query<unknown> =>
  sql`update webhook_deliveries set state = 'pending', attempts = 0, done_at = null, next_at = ${dueTimeSql(isPaused)}
     where ${orgFilter()} and id = ${id}`;

/** Schedules all pending deliveries immediately, each with a fresh count of attempts. */
export const reschedulePendingDeliveries = (webhookId: string): Query<unknown> =>
  sql`update webhook_deliveries set attempts = 0, next_at = now()
     where ${orgFilter()} and webhook_id = ${webhookId} and state = 'pending'`;

/** A range of sequence numbers or of times, both inclusive. */
export interface ReplayRange {
  readonly webhookId: string;
  readonly from: number | string;
  readonly to: number | string;
}

const isInRangeSql = ({ webhookId, from, to }: ReplayRange): Part =>
  typeof from === 'number'
    ? sql.part`${orgFilter('d')} and d.webhook_id = ${webhookId} and d.seq between ${from}::bigint and ${to}::bigint`
    : sql.part`${orgFilter('d')} and d.webhook_id = ${webhookId} and d.seq is not null
        and d.event_at between ${from}::timestamptz and ${to}::timestamptz`;

/** Returns whether all deliveries of the range are still stored. */
export async function isRangeStored(db: Db, { webhookId, from }: ReplayRange): Promise<boolean> {
  const { kept } = await db.one(
    typeof from === 'number'
      ? sql<{ kept: boolean }>`select coalesce(${from}::bigint >= (select min(d.seq) from webhook_deliveries d
          where ${orgFilter('d')} and d.webhook_id = ${webhookId}), w.sent_seq < ${from}::bigint) as kept
          from webhooks w where ${orgFilter('w')} and w.id = ${webhookId}`
      : sql<{
          kept: boolean;
        }>`select ${from}::timestamptz >= now() - make_interval(days => ${sql.literal(deliveryRetentionDays)}) as kept`,
  );
  return kept;
}

/** Counts the deliveries in the range, up to one more than the limit. */
export const countReplayableDeliveries = async (db: Db, range: ReplayRange): Promise<number> =>
  (
    await db.one(
      sql<{ count: number }>`select count(*) from (select from webhook_deliveries d
        where ${isInRangeSql(range)} and d.state <> 'pending' limit ${sql.literal(maxReplayedDeliveries + 1)}) d`,
    )
  ).count;

export const replayDeliveries = (range: ReplayRange, isPaused: boolean): Query<unknown> =>
  sql`update webhook_deliveries d set state = 'pending', attempts = 0, done_at = null, next_at = ${dueTimeSql(isPaused)}
     where ${isInRangeSql(range)} and d.state <> 'pending'`;

const Cursor = z.tuple([CursorId]);

/** Lists deliveries in pages, newest first. */
export async function listDeliveries(
  db: Db,
  { webhookId, state, limit, cursor }: ParamsOf<NotificationsRegistry['webhooks']['deliveries']['list']>,
): Promise<Page<WebhookDelivery>> {
  const where = [orgFilter('d'), sql.part`d.webhook_id = ${webhookId}`];
  if (state !== undefined) where.push(sql.part`d.state = ${state}`);
  const before = decodeCursor(cursor, Cursor);
  if (before !== undefined) where.push(sql.part`d.id < ${before[0]}::uuid`);
  const rows = await db.all(
    sql<DeliveryRow>`${limitToPageBytes(
      sql.part`select ${deliveries.list} from webhook_deliveries d
        where ${sql.join(where, ' and ')} order by d.id desc limit ${limit + 1}`,
      sql.part`octet_length(q.tries::text)`,
      sql.part`q.id desc`,
    )}`,
  );
  return pageOfRows(rows, limit, (row) => [row.id], toDelivery);
}
