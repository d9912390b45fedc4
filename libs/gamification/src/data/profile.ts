/** What is kept of one member's points. */
import { type Db, sqlQuery } from '@muster/database';
import { type MemberRef, notFound } from '@muster/registry';
import { isPointKind, type Tally } from '../rules/points.ts';

/** A member by name; 404 for those who are none any more. */
export async function getMemberRef(db: Db, orgId: string, memberId: string): Promise<MemberRef> {
  const member = await db.find(
    sqlQuery<MemberRef>(
      `select id, name, handle from members where org_id = $1 and id = $2 and status = 'active'`,
      [orgId, memberId],
    ),
  );
  if (member === undefined) throw notFound();
  return member;
}

export async function listTallies(db: Db, orgId: string, memberId: string): Promise<Tally[]> {
  const rows = await db.all(
    sqlQuery<{ kind: string; points: number; times: number }>(
      'select kind, points, times from point_tallies where org_id = $1 and member_id = $2',
      [orgId, memberId],
    ),
  );
  return rows.flatMap(({ kind, ...tally }) => (isPointKind(kind) ? [{ kind, ...tally }] : []));
}

/** One more than the members who have more points over all time; null for a member without any. */
export async function findRank(db: Db, orgId: string, memberId: string): Promise<number | null> {
  const row = await db.find(
    sqlQuery<{ rank: number }>(
      `select 1 + (
         select count(*) from point_scores s
         join members m on m.org_id = s.org_id and m.id = s.member_id and m.status = 'active'
         where s.org_id = mine.org_id and s.period = mine.period and s.starts_on = mine.starts_on
           and s.scope_id = mine.scope_id and s.points > mine.points) as rank
       from point_scores mine
       where mine.org_id = $1 and mine.period = 'all' and mine.starts_on = '1970-01-01' and mine.scope_id = $1
         and mine.member_id = $2 and mine.points > 0`,
      [orgId, memberId],
    ),
  );
  return row?.rank ?? null;
}

/** Days on end with points, the last of them today or yesterday; none from before a reset. */
export async function getStreakDays(db: Db, orgId: string, memberId: string): Promise<number> {
  const { days } = await db.one(
    sqlQuery<{ days: number }>(
      `with recursive since as (
         select coalesce((select r.reset_on from point_resets r where r.org_id = $1 and r.member_id = $2), '1970-01-01') as day),
       streak as (
         (select d.day from point_days d, since
          where d.org_id = $1 and d.member_id = $2 and d.points > 0 and d.day >= greatest(now()::date - 1, since.day)
          order by d.day desc limit 1)
         union all
         select d.day from streak, since, point_days d
         where d.org_id = $1 and d.member_id = $2 and d.points > 0 and d.day = streak.day - 1 and d.day >= since.day)
       select count(*) as days from streak`,
      [orgId, memberId],
    ),
  );
  return days;
}
