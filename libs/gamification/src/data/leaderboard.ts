/** A leaderboard from the top: a page is a walk down an index, however many points were ever given. */
import { type Db, decodeCursor, encodeCursor, sqlQuery, Values } from '@muster/database';
import {
  type LeaderboardEntry,
  notFound,
  type ParamsOf,
  type Registry,
  type ResultOf,
} from '@muster/registry';
import { z } from 'zod';
import { type Period } from '../rules/sums.ts';

type Leaderboard = Registry['gamification']['leaderboard'];

/** The last one of the page before: points, member, rank, and how many there were up to there. */
const Count = z.int().min(1).max(2_147_483_647);
const Position = z.tuple([Count, z.uuid(), Count, Count]);

interface Row {
  readonly member_id: string;
  readonly name: string;
  readonly handle: string;
  readonly points: number;
  readonly before: number;
}

/** SQL for the first day of the period that is now, and of the one before. */
const starts: Record<Period, readonly [now: string, before: string]> = {
  week: [`date_trunc('week', now())::date`, `(date_trunc('week', now()) - interval '1 week')::date`],
  month: [`date_trunc('month', now())::date`, `(date_trunc('month', now()) - interval '1 month')::date`],
  all: [`date '1970-01-01'`, `date '1970-01-01'`],
};

export async function listLeaders(
  db: Db,
  orgId: string,
  { period, projectId, teamId, limit, cursor }: ParamsOf<Leaderboard>,
): Promise<ResultOf<Leaderboard>> {
  const position = decodeCursor(cursor, Position);
  const values = new Values(orgId);
  const [startsOn, startedOn] = starts[period];
  const board = [
    `s.org_id = ${values.org}`,
    `s.period = ${values.$(period)}`,
    `s.starts_on = ${startsOn}`,
    `s.scope_id = ${projectId === undefined ? values.org : values.projectId(projectId)}`,
    's.points > 0',
  ];
  if (teamId !== undefined)
    board.push(
      `s.member_id in (select t.member_id from team_members t where t.org_id = ${values.org} and t.team_id = ${values.uuid(teamId)})`,
    );
  if (position !== undefined) {
    const [points, memberId] = position;
    const reached = values.$(points);
    board.push(
      `s.points <= ${reached} and (s.points < ${reached} or s.member_id > ${values.uuid(memberId)})`,
    );
  }
  const rows = await db.all(
    sqlQuery<Row>(
      `select s.member_id, m.name, m.handle, s.points, coalesce(b.points, 0) as before
       from point_scores s
       join members m on m.org_id = s.org_id and m.id = s.member_id and m.status = 'active'
       left join point_scores b on b.org_id = s.org_id and b.period = s.period and b.starts_on = ${startedOn}
         and b.scope_id = s.scope_id and b.member_id = s.member_id
       where ${board.join(' and ')}
       order by s.points desc, s.member_id limit ${values.$(limit + 1)}`,
      values.list,
    ),
  );
  const items = ranked(rows.slice(0, limit), period, position);
  const last = items.at(-1);
  return {
    items,
    nextCursor:
      rows.length > limit && last !== undefined
        ? encodeCursor([last.points, last.member.id, last.rank, (position?.[3] ?? 0) + items.length])
        : null,
  };
}

/** Ranks go on from the page before, so that no page counts those above it. */
function ranked(
  rows: readonly Row[],
  period: Period,
  position: z.infer<typeof Position> | undefined,
): LeaderboardEntry[] {
  let [lastPoints, , rank, place] = position ?? [0, '', 0, 0];
  return rows.map((row) => {
    place += 1;
    if (row.points !== lastPoints) rank = place;
    lastPoints = row.points;
    return {
      rank,
      member: { id: row.member_id, name: row.name, handle: row.handle },
      points: row.points,
      delta: period === 'all' ? null : row.points - row.before,
    };
  });
}

/** 404 unless there is the team. */
export async function requireTeam(db: Db, orgId: string, teamId: string): Promise<void> {
  const team = await db.find(sqlQuery('select id from teams where org_id = $1 and id = $2', [orgId, teamId]));
  if (team === undefined) throw notFound();
}
