/** Reads the points of one member. */
import { type Db, orgFilter, currentOrgId, sql } from '@muster/driver';
import { type MemberRef } from '@muster/contract';
import { isPointKind, type PointTotals } from '../rules/points.ts';

/** Reads an active member. Throws not_found for others. */
export function getMemberRef(db: Db, memberId: string): Promise<MemberRef> {
  return db.get(
    sql<MemberRef>`select id, name, handle from members where ${orgFilter()} and id = ${memberId} and status = 'active'`,
  );
}

export async function listPointTotals(db: Db, memberId: string): Promise<PointTotals[]> {
  const rows = await db.all(
    sql<{
      kind: string;
      points: number;
      times: number;
    }>`select kind, points, times from point_tallies where ${orgFilter()} and member_id = ${memberId}`,
  );
  return rows.flatMap(({ kind, ...tally }) => (isPointKind(kind) ? [{ kind, ...tally }] : []));
}

/**
 * Returns the rank: one more than the number of members with more points over all time. Null for a member
 * without points.
 */
export async function findRank(db: Db, memberId: string): Promise<number | null> {
  const row = await db.find(
    sql<{ rank: number }>`select 1 + (
         select count(*) from point_scores s
         join members m on ${orgFilter('m')} and m.id = s.member_id and m.status = 'active'
         where ${orgFilter('s')} and s.period = mine.period and s.starts_on = mine.starts_on
           and s.scope_id = mine.scope_id and s.points > mine.points) as rank
       from point_scores mine
       where ${orgFilter('mine')} and mine.period = 'all' and mine.starts_on = '1970-01-01' and mine.scope_id = ${currentOrgId}
         and mine.member_id = ${memberId} and mine.points > 0`,
  );
  return row?.rank ?? null;
}

/** Counts the consecutive days with points, up to today or yesterday. Days before a reset do not count. */
export async function getStreakDays(db: Db, memberId: string): Promise<number> {
  const { days } = await db.one(
    sql<{ days: number }>`with recursive since as (
         select coalesce((select r.reset_on from point_resets r where ${orgFilter('r')} and r.member_id = ${memberId}), '1970-01-01') as day),
       streak as (
         (select d.day from point_days d, since
          where ${orgFilter('d')} and d.member_id = ${memberId} and d.points > 0 and d.day >= greatest(now()::date - 1, since.day)
          order by d.day desc limit 1)
         union all
         select d.day from streak, since, point_days d
         where ${orgFilter('d')} and d.member_id = ${memberId} and d.points > 0 and d.day = streak.day - 1 and d.day >= since.day)
       select count(*) as days from streak`,
  );
  return days;
}
