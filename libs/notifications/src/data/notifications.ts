/**
 * A member's inbox: listing, counting and marking as read. Notifications about projects that the member may
 * no longer see are hidden.
 */
import {
  currentOrgId,
  CursorId,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfRows,
  type Part,
  type Query,
  type RowOf,
  sql,
  defineView,
} from '@muster/driver';
import { NotificationKind, notificationKinds, type ParamsOf, type ResultOf } from '@muster/contract';
import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';
import { disableCountTrigger } from './unread-counts.ts';
import { maySeeProjectSql } from './visible.ts';

type ListNotificationsOperation = NotificationsRegistry['notifications']['list'];
type UnreadCounts = ResultOf<NotificationsRegistry['notifications']['unreadCount']>;

export const inbox = defineView('notifications', 'n', [
  'id',
  'kind',
  'title',
  'body',
  'subject',
  'actor',
  'read_at',
  'created_at',
]);

/** Returns the SQL condition that the notification `n` is in the caller's inbox. */
const isInInboxSql = (caller: Caller): Part =>
  sql.part`${orgFilter('n')} and n.member_id = ${caller.memberId}::uuid and n.in_inbox
   and (n.project_id is null or ${maySeeProjectSql(caller, sql.part`n.project_id`)})`;

/** Returns SQL for the time until which the notification `n` is snoozed; null if it is not. */
const snoozedUntilSql = sql.part`(select z.until from notification_snoozes z
  where ${orgFilter('z')} and z.notification_id = n.id and z.until > now())`;

/** The condition that the notification `n` is hidden. A snoozed notification that was read is not hidden. */
export const isSnoozedSql = sql.part`(n.read_at is null and ${snoozedUntilSql} is not null)`;

/** Returns SQL for the unread notifications of the caller that are snoozed now. Their number is limited. */
const selectSnoozed = (caller: Caller, columns: Part): Part =>
  sql.part`select ${columns} from notification_snoozes z
   join notifications n on ${orgFilter('n')} and n.id = z.notification_id
   where ${orgFilter('z')} and z.member_id = ${caller.memberId}::uuid and z.until > now() and n.read_at is null`;

const Cursor = z.tuple([CursorId]);

/** Lists the inbox in pages, newest first. The ids are ordered by time. */
export async function listNotifications(
  db: Db,
  caller: Caller,
  { unreadOnly, snoozed, kinds, limit, cursor }: ParamsOf<ListNotificationsOperation>,
): Promise<ResultOf<ListNotificationsOperation>> {
  const where = [isInInboxSql(caller)];
  const before = decodeCursor(cursor, Cursor);
  if (before !== undefined) where.push(sql.part`n.id < ${before[0]}::uuid`);
  if (unreadOnly) where.push(sql.part`n.read_at is null`);
  where.push(
    snoozed ? sql.part`n.id in (${selectSnoozed(caller, sql.part`n.id`)})` : sql.part`not ${isSnoozedSql}`,
  );
  const most = sql.part`order by n.id desc limit ${limit + 1}`;
  const wanted = kinds === undefined ? undefined : sql.part`${[...new Set(kinds)]}::text[]`;
  const shown = (...conditions: Part[]) =>
    sql.part`select ${inbox.list}, ${snoozed ? snoozedUntilSql : sql.part`null::timestamptz`} as snoozed_until from notifications n
     where ${sql.join([...where, ...conditions], ' and ')} ${most}`;
  // Unread notifications are filtered by kind in one scan. Otherwise each kind has a scan of its own, because
  // a rare kind would need a scan of the whole inbox.
  let text = shown();
  if (wanted !== undefined)
    text = unreadOnly
      ? shown(sql.part`n.kind = any (${wanted})`)
      : sql.part`select n.* from unnest(${wanted}) k cross join lateral (${shown(sql.part`n.kind = k`)}) n ${most}`;
  const rows = await db.all(sql<RowOf<typeof inbox> & { readonly snoozed_until: string | null }>`${text}`);
  return pageOfRows(
    rows,
    limit,
    (row) => [row.id],
    (row) => ({ ...inbox.shown(row), snoozedUntil: row.snoozed_until }),
  );
}

/** Counts the unread notifications of the caller that are not snoozed. */
export async function getUnreadCounts(db: Db, caller: Caller): Promise<UnreadCounts> {
  const rows = await db.all(
    sql<{
      kind: NotificationKind;
      unread: number;
    }>`select c.kind, sum(c.unread)::int as unread from (
         select c.kind, c.project_id, c.unread from notification_counts c
         where ${orgFilter('c')} and c.member_id = ${caller.memberId}::uuid and c.unread > 0
         union all ${selectSnoozed(caller, sql.part`n.kind, n.project_id, -1`)} and n.in_inbox) c
       where c.project_id is null or ${maySeeProjectSql(caller, sql.part`c.project_id`)}
       group by c.kind`,
  );
  const byKind = z
    .record(NotificationKind, z.int())
    .parse(Object.fromEntries(notificationKinds.map((kind) => [kind, 0])));
  for (const { kind, unread } of rows) byKind[kind] = unread;
  return { unread: rows.reduce((sum, row) => sum + row.unread, 0), byKind };
}

/**
 * Locks the member's unread counts in the order of their key, before the notifications are updated. This
 * serializes calls that mark notifications of one member, however many they mark.
 */
const lockUnreadCounts = (caller: Caller): Query<unknown> =>
  sql`select from notification_counts c where ${orgFilter('c')} and c.member_id = ${caller.memberId} and c.unread > 0
     order by c.kind, c.place_id for no key update`;

/** The result of marking notifications as read. */
export interface MarkReadResult {
  readonly found: number;
  readonly updated: number;
  /** The newest id among the notifications that were found. */
  readonly last: string | null;
}

/**
 * Marks the notifications that match the condition as read, oldest first, and updates the unread counts. Each
 * count is written once, in the order of the key.
 */
export const markReadQuery = (condition: Part, maxMarked: number): Query<MarkReadResult> =>
  sql<MarkReadResult>`with by_hand as materialized (${disableCountTrigger}),
     found as materialized (
       select n.id from notifications n where ${condition}
       order by n.id limit ${maxMarked}),
     marked as (
       update notifications n set read_at = now() from found f, by_hand
       where ${orgFilter('n')} and n.id = f.id and n.read_at is null
       returning n.member_id, n.kind, coalesce(n.project_id, n.org_id) as place_id, n.in_inbox),
     fewer as (select m.member_id, m.kind, m.place_id, count(*)::int as n from marked m where m.in_inbox group by 1, 2, 3),
     locked as materialized (
       select c.member_id, c.kind, c.place_id, w.n
       from notification_counts c join fewer w using (member_id, kind, place_id)
       where ${orgFilter('c')} order by c.member_id, c.kind, c.place_id for no key update of c),
     counted as (
       update notification_counts c set unread = c.unread - l.n, changes = c.changes + 1 from locked l
       where ${orgFilter('c')} and c.member_id = l.member_id and c.kind = l.kind and c.place_id = l.place_id)
     select (select count(*) from found) as found, (select count(*) from marked) as updated,
       (select id from found order by id desc limit 1) as last`;

async function markMatchingRead(
  db: Db,
  caller: Caller,
  condition: Part,
  maxMarked: number,
): Promise<MarkReadResult> {
  const [, marked] = await Promise.all([
    db.all(lockUnreadCounts(caller)),
    db.one(markReadQuery(sql.part`${isInInboxSql(caller)} and ${condition}`, maxMarked)),
  ]);
  return marked;
}

/** Marks the given notifications as read. `found` counts those of them that are in the inbox, read or not. */
export function markReadByIds(db: Db, caller: Caller, ids: readonly string[]): Promise<MarkReadResult> {
  return markMatchingRead(db, caller, sql.part`n.id = any (${ids}::uuid[])`, ids.length);
}

/** The maximum number of notifications that one statement marks, because each statement has a time limit. */
export const maxMarkedPerStatement = 2_000;

/**
 * Marks unread notifications up to the given time as read. If `found` equals mostAtOnce, there may be more
 * notifications after the last one.
 */
export function markReadUpTo(
  db: Db,
  caller: Caller,
  createdUntil: string | undefined,
  afterId: string | null,
): Promise<MarkReadResult> {
  const where = [sql.part`n.read_at is null and not ${isSnoozedSql}`];
  if (createdUntil !== undefined) where.push(sql.part`n.created_at <= ${createdUntil}::timestamptz`);
  if (afterId !== null) where.push(sql.part`n.id > ${afterId}::uuid`);
  return markMatchingRead(db, caller, sql.join(where, ' and '), maxMarkedPerStatement);
}

/** The result of snoozing notifications. */
export interface SnoozeResult {
  /** The number of the notifications that are in the inbox. */
  readonly found: number;
  readonly updated: number;
  /** The number of the caller's other notifications that are snoozed now. */
  readonly others: number;
}

/**
 * Hides the given notifications until a time, or brings them back if it is null. Those that were read are unread
 * again. Each count is written once, in the order of its key, so that streams announce the change.
 */
export async function snoozeByIds(
  db: Db,
  caller: Caller,
  ids: readonly string[],
  until: string | null,
): Promise<SnoozeResult> {
  const [, snoozed] = await Promise.all([
    db.all(sql`select from notification_counts c where ${orgFilter('c')} and c.member_id = ${caller.memberId}
      order by c.kind, c.place_id for no key update`),
    db.one(
      sql<SnoozeResult>`with found as materialized (
         select n.id, n.kind, n.read_at, coalesce(n.project_id, n.org_id) as place_id from notifications n
         where ${isInInboxSql(caller)} and n.id = any (${ids}::uuid[]) order by n.id for no key update),
       awake as (
         delete from notification_snoozes z using found f
         where ${orgFilter('z')} and z.notification_id = f.id and ${until}::timestamptz is null and z.until > now()
         returning z.notification_id as id),
       asleep as (
         insert into notification_snoozes as z (org_id, notification_id, member_id, until)
         select ${currentOrgId}, f.id, ${caller.memberId}, ${until}::timestamptz from found f
         where ${until}::timestamptz is not null order by f.id
         on conflict (org_id, notification_id) do update set until = excluded.until
         returning z.notification_id as id),
       changed as materialized (select f.* from found f where f.id in (select id from awake union all select id from asleep)),
       unread as (
         update notifications n set read_at = null from changed f
         where ${orgFilter('n')} and n.id = f.id and n.read_at is not null),
       counted as (
         update notification_counts c set unread = c.unread + w.n, changes = c.changes + 1
         from (select f.kind, f.place_id, count(f.read_at)::int as n from changed f group by 1, 2) w
         where ${orgFilter('c')} and c.member_id = ${caller.memberId} and c.kind = w.kind and c.place_id = w.place_id)
       select (select count(*)::int from found) as found, (select count(*)::int from changed) as updated,
         (select count(*)::int from notification_snoozes z
          where ${orgFilter('z')} and z.member_id = ${caller.memberId}::uuid and z.until > now()
            and z.notification_id <> all (${ids}::uuid[])) as others`,
    ),
  ]);
  return snoozed;
}
