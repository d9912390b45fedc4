/**
 * A member's inbox: listing, counting and marking as read. Notifications about projects that the member may
 * no longer see are hidden.
 */
import {
  CursorId,
  type Db,
  decodeCursor,
  of,
  pageOfRows,
  type Part,
  type Query,
  type RowOf,
  sql,
  view,
} from '@muster/driver';
import {
  NotificationKind,
  notificationKinds,
  type ParamsOf,
  type Registry,
  type ResultOf,
} from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { z } from 'zod';
import { countsByHand } from './unread-counts.ts';
import { maySee } from './visible.ts';

type List = Registry['notifications']['list'];
type Unread = ResultOf<Registry['notifications']['unreadCount']>;

const inbox = view('notifications', 'n', [
  'id',
  'kind',
  'title',
  'body',
  'subject',
  'actor',
  'read_at',
  'created_at',
]);

/** Answers the SQL condition that the notification `n` is in the caller's inbox. */
const isInInbox = (caller: Caller): Part =>
  sql.part`${of('n')} and n.member_id = ${caller.memberId}::uuid and n.in_inbox
   and (n.project_id is null or ${maySee(caller, sql.part`n.project_id`)})`;

const Cursor = z.tuple([CursorId]);

/** Lists the inbox in pages, newest first. The ids are ordered by time. */
export async function listNotifications(
  db: Db,
  caller: Caller,
  { unreadOnly, kinds, limit, cursor }: ParamsOf<List>,
): Promise<ResultOf<List>> {
  const where = [isInInbox(caller)];
  const before = decodeCursor(cursor, Cursor);
  if (before !== undefined) where.push(sql.part`n.id < ${before[0]}::uuid`);
  if (unreadOnly) where.push(sql.part`n.read_at is null`);
  const most = sql.part`order by n.id desc limit ${limit + 1}`;
  const wanted = kinds === undefined ? undefined : sql.part`${[...new Set(kinds)]}::text[]`;
  const shown = (...conditions: Part[]) =>
    sql.part`select ${inbox.list} from notifications n
     where ${sql.join([...where, ...conditions], ' and ')} ${most}`;
  // Unread notifications are filtered by kind in one scan. Otherwise each kind has a scan of its own, because
  // a rare kind would need a scan of the whole inbox.
  let text = shown();
  if (wanted !== undefined) {
    text = unreadOnly
      ? shown(sql.part`n.kind = any (${wanted})`)
      : sql.part`select n.* from unnest(${wanted}) k cross join lateral (${shown(sql.part`n.kind = k`)}) n ${most}`;
  }
  const rows = await db.all(sql<RowOf<typeof inbox>>`${text}`);
  return pageOfRows(rows, limit, (row) => [row.id], inbox.shown);
}

/** Counts the unread notifications of the caller. */
export async function getUnread(db: Db, caller: Caller): Promise<Unread> {
  const rows = await db.all(
    sql<{
      kind: NotificationKind;
      unread: number;
    }>`select c.kind, sum(c.unread)::int as unread from notification_counts c
       where ${of('c')} and c.member_id = ${caller.memberId}::uuid and c.unread > 0
         and (c.project_id is null or ${maySee(caller, sql.part`c.project_id`)})
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
const lockCounts = (caller: Caller): Query<unknown> =>
  sql`select from notification_counts c where ${of('c')} and c.member_id = ${caller.memberId} and c.unread > 0
     order by c.kind, c.place_id for no key update`;

/** The result of marking notifications as read. */
export interface Marked {
  readonly found: number;
  readonly updated: number;
  /** The newest id among the notifications that were found. */
  readonly last: string | null;
}

/**
 * Marks the notifications that match the condition as read, oldest first, and updates the unread counts. Each
 * count is written once, in the order of the key.
 */
export const markRead = (condition: Part, most: number): Query<Marked> =>
  sql<Marked>`with by_hand as materialized (${countsByHand}),
     found as materialized (
       select n.id from notifications n where ${condition}
       order by n.id limit ${most}),
     marked as (
       update notifications n set read_at = now() from found f, by_hand
       where ${of('n')} and n.id = f.id and n.read_at is null
       returning n.member_id, n.kind, coalesce(n.project_id, n.org_id) as place_id),
     fewer as (select m.member_id, m.kind, m.place_id, count(*)::int as n from marked m group by 1, 2, 3),
     locked as materialized (
       select c.member_id, c.kind, c.place_id, w.n
       from notification_counts c join fewer w using (member_id, kind, place_id)
       where ${of('c')} order by c.member_id, c.kind, c.place_id for no key update of c),
     counted as (
       update notification_counts c set unread = c.unread - l.n, changes = c.changes + 1 from locked l
       where ${of('c')} and c.member_id = l.member_id and c.kind = l.kind and c.place_id = l.place_id)
     select (select count(*) from found) as found, (select count(*) from marked) as updated,
       (select id from found order by id desc limit 1) as last`;

async function mark(db: Db, caller: Caller, condition: Part, most: number): Promise<Marked> {
  const [, marked] = await Promise.all([
    db.all(lockCounts(caller)),
    db.one(markRead(sql.part`${isInInbox(caller)} and ${condition}`, most)),
  ]);
  return marked;
}

/** Marks the given notifications as read. `found` counts those of them that are in the inbox, read or not. */
export function markThese(db: Db, caller: Caller, ids: readonly string[]): Promise<Marked> {
  return mark(db, caller, sql.part`n.id = any (${ids}::uuid[])`, ids.length);
}

/** The maximum number of notifications that one statement marks, because each statement has a time limit. */
export const mostAtOnce = 2_000;

/**
 * Marks unread notifications up to the given time as read. If `found` equals mostAtOnce, there may be more
 * notifications after the last one.
 */
export function markUnread(
  db: Db,
  caller: Caller,
  before: string | undefined,
  after: string | null,
): Promise<Marked> {
  const where = [sql.part`n.read_at is null`];
  if (before !== undefined) where.push(sql.part`n.created_at <= ${before}::timestamptz`);
  if (after !== null) where.push(sql.part`n.id > ${after}::uuid`);
  return mark(db, caller, sql.join(where, ' and '), mostAtOnce);
}
