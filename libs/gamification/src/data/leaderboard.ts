/**
 * Lists a leaderboard from the top. A page scans an index, so its cost does not depend on the number of
 * points ever given.
 */
import {
  CursorCount,
  CursorId,
  type Db,
  decodeCursor,
  orgFilter,
  currentOrgId,
  pageOfRows,
  type Part,
  sql,
} from '@muster/driver';
import { type LeaderboardEntry, type ParamsOf, type ResultOf } from '@muster/contract';
import { type GamificationRegistry } from '@muster/gamification-registry';
import { projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { type Period } from '../rules/sums.ts';

type LeaderboardOperation = GamificationRegistry['gamification']['leaderboard'];

/** The cursor: the points, member and rank of the last entry, and the number of entries up to that entry. */
const LeaderboardCursor = z.tuple([CursorCount, CursorId, CursorCount, CursorCount]);

interface LeaderboardRow {
  readonly member_id: string;
  readonly name: string;
  readonly handle: string;
  readonly points: number;
  readonly before: number;
}

/** SQL for the first day of the current period and of the previous one. */
const periodStartsSql: Record<Period, readonly [now: Part, before: Part]> = {
  week: [
    sql.part`date_trunc('week', now())::date`,
    sql.part`(date_trunc('week', now()) - interval '1 week')::date`,
  ],
  month: [
    sql.part`date_trunc('month', now())::date`,
    sql.part`(date_trunc('month', now()) - interval '1 month')::date`,
  ],
  all: [sql.part`date '1970-01-01'`, sql.part`date '1970-01-01'`],
};

export async function listLeaderboard(
  db: Db,
  { period, projectId, teamId, limit, cursor }: ParamsOf<LeaderboardOperation>,
): Promise<ResultOf<LeaderboardOperation>> {
  const position = decodeCursor(cursor, LeaderboardCursor);
  const [startsOn, startedOn] = periodStartsSql[period];
  const board = [
    orgFilter('s'),
    sql.part`s.period = ${period}`,
    sql.part`s.starts_on = ${startsOn}`,
    sql.part`s.scope_id = ${projectId === undefined ? currentOrgId : projectIdSql(projectId)}`,
    sql.part`s.points > 0`,
  ];
  if (teamId !== undefined)
    board.push(
      sql.part`s.member_id in (select t.member_id from team_members t where ${orgFilter('t')} and t.team_id = ${teamId}::uuid)`,
    );
  if (position !== undefined) {
    const [points, memberId] = position;
    const reached = sql.part`${points}`;
    board.push(
      sql.part`s.points <= ${reached} and (s.points < ${reached} or s.member_id > ${memberId}::uuid)`,
    );
  }
  const rows = await db.all(
    sql<LeaderboardRow>`select s.member_id, m.name, m.handle, s.points, coalesce(b.points, 0) as before
       from point_scores s
       join members m on m.org_id = s.org_id and m.id = s.member_id and m.status = 'active'
       left join point_scores b on b.org_id = s.org_id and b.period = s.period and b.starts_on = ${startedOn}
         and b.scope_id = s.scope_id and b.member_id = s.member_id
       where ${sql.join(board, ' and ')}
       order by s.points desc, s.member_id limit ${limit + 1}`,
  );
  return pageOfRows(
    rankRows(rows, period, position),
    limit,
    ({ entry, place }) => [entry.points, entry.member.id, entry.rank, place],
    ({ entry }) => entry,
  );
}

/** Continues the ranks of the previous page, so that no page counts the entries above it. */
function rankRows(
  rows: readonly LeaderboardRow[],
  period: Period,
  position: z.infer<typeof LeaderboardCursor> | undefined,
): { readonly entry: LeaderboardEntry; readonly place: number }[] {
  let [lastPoints, , rank, place] = position ?? [0, '', 0, 0];
  return rows.map((row) => {
    place += 1;
    if (row.points !== lastPoints) rank = place;
    lastPoints = row.points;
    const member = { id: row.member_id, name: row.name, handle: row.handle };
    const delta = period === 'all' ? null : row.points - row.before;
    return { entry: { rank, member, points: row.points, delta }, place };
  });
}
