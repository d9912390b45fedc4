/** Broadcasts: their recipients, and the fields that a member can read. */
import {
  CursorId,
  CursorTime,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfRows,
  type Query,
  type RowOf,
  sql,
  defineView,
  limitToPageBytes,
} from '@muster/driver';
import { type Broadcast, type ParamsOf, type ResultOf } from '@muster/contract';
import { type NotificationsRegistry } from '@muster/notifications-registry';
import { type Caller } from '@muster/runtime';
import { projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { isVisibleSql } from './visible.ts';

const broadcasts = defineView(
  'broadcasts',
  'b',
  ['id', 'message', 'level', 'project_id', 'team_id', 'sender', 'expires_at', 'created_at'],
  ['sender_member_id'],
);
type BroadcastRow = RowOf<typeof broadcasts>;
type ListBroadcastsOperation = NotificationsRegistry['broadcasts']['list'];

export const toBroadcast = (row: BroadcastRow): Broadcast => ({
  ...broadcasts.shown(row),
  updatedAt: row.created_at,
});

export const insertBroadcast = (row: BroadcastRow): Query<unknown> =>
  sql.insert('broadcasts', broadcasts.names, row);

export interface TeamOfBroadcast {
  readonly id: string;
  readonly name: string;
}

export function getTeamOfBroadcast(db: Db, id: string): Promise<TeamOfBroadcast> {
  return db.get(
    sql<TeamOfBroadcast>`select t.id, t.name from teams t where ${orgFilter('t')} and t.id = ${id}`,
  );
}

/** Counts the recipients of a broadcast without its sender. */
export async function countRecipients(
  db: Db,
  caller: Caller,
  { projectRef, teamId }: { readonly projectRef: string | undefined; readonly teamId: string | undefined },
): Promise<number> {
  const where = [sql.part`${orgFilter('m')} and m.status = 'active' and m.id <> ${caller.memberId}::uuid`];
  if (teamId !== undefined)
    where.push(
      sql.part`m.id in (select t.member_id from team_members t where ${orgFilter('t')} and t.team_id = ${teamId}::uuid)`,
    );
  if (projectRef !== undefined)
    where.push(sql.part`exists (select from projects p
      where ${orgFilter('p')} and p.id = ${projectIdSql(projectRef)}
        and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) is not null)`);
  const { count } = await db.one(
    sql<{ count: number }>`select count(*) as count from members m where ${sql.join(where, ' and ')}`,
  );
  return count;
}

const Cursor = z.tuple([CursorTime, CursorId]);

/** The maximum lifetime of a broadcast. Older ones need not be searched for active ones. */
const maxBroadcastLifetime = sql.part`interval '30 days'`;

/** Lists the broadcasts addressed to the caller in pages, newest first. */
export async function listBroadcasts(
  db: Db,
  caller: Caller,
  { projectId, includeExpired, limit, cursor }: ParamsOf<ListBroadcastsOperation>,
): Promise<ResultOf<ListBroadcastsOperation>> {
  const me = sql.part`${caller.memberId}::uuid`;
  const where = [
    orgFilter('b'),
    isVisibleSql(caller, sql.part`b.project_id`),
    sql.part`(b.team_id is null or b.sender_member_id = ${me} or b.team_id in (
       select t.team_id from team_members t where ${orgFilter('t')} and t.member_id = ${me}))`,
  ];
  if (projectId !== undefined) where.push(sql.part`b.project_id = ${projectIdSql(projectId)}`);
  if (!includeExpired)
    where.push(sql.part`b.expires_at > now() and b.created_at > now() - ${maxBroadcastLifetime}`);
  const before = decodeCursor(cursor, Cursor);
  if (before !== undefined)
    where.push(sql.part`(b.created_at, b.id) < (${before[0]}::timestamptz, ${before[1]}::uuid)`);
  const rows = await db.all(
    sql<BroadcastRow>`${limitToPageBytes(
      sql.part`select ${broadcasts.list}
         from broadcasts b where ${sql.join(where, ' and ')}
         order by b.created_at desc, b.id desc limit ${limit + 1}`,
      sql.part`octet_length(q.message)`,
      sql.part`q.created_at desc, q.id desc`,
    )}`,
  );
  return pageOfRows(rows, limit, (row) => [row.created_at, row.id], toBroadcast);
}
