/** The sums of points, which are stored with the ledger. */
import { type Db, orgFilter, currentOrgId, type Part, type Query, sql } from '@muster/driver';
import { type SumChanges } from '../rules/sums.ts';

/** Returns the condition for sums to keep: all time, and the current and the previous week and month. */
const isSumKeptSql = (row: Part): Part => sql.part`case ${row}.period when 'all' then true
  else ${row}."startsOn" >= (date_trunc(${row}.period, now()) - ('1 ' || ${row}.period)::interval)::date end`;

/**
 * Adds the changes with COMMIT. It first inserts missing rows with zeros. An upsert would check the
 * constraints on the inserted values, and a negative change would violate them.
 */
export function addToSums(db: Db, { tallies, scores, days }: SumChanges): void {
  const add = (rows: readonly unknown[], insert: Query<unknown>, update: Query<unknown>): void => {
    if (rows.length === 0) return;
    db.deferToCommit(insert);
    db.deferToCommit(update);
  };
  const tally = sql.part`jsonb_to_recordset(${JSON.stringify(tallies)}::jsonb) as c ("memberId" uuid, kind text, points int, times int)`;
  add(
    tallies,
    sql`insert into point_tallies (org_id, member_id, kind, points, times)
     select ${currentOrgId}, c."memberId", c.kind, 0, 0 from ${tally} on conflict do nothing`,
    sql`update point_tallies t set points = t.points + c.points, times = t.times + c.times from ${tally}
     where ${orgFilter('t')} and t.member_id = c."memberId" and t.kind = c.kind`,
  );
  const score = sql.part`jsonb_to_recordset(${JSON.stringify(scores)}::jsonb) as c (
    period text, "startsOn" date, "scopeId" uuid, "memberId" uuid, points int)`;
  add(
    scores,
    sql`insert into point_scores (org_id, period, starts_on, scope_id, member_id, points)
     select ${currentOrgId}, c.period, c."startsOn", c."scopeId", c."memberId", 0 from ${score} where ${isSumKeptSql(sql.part`c`)}
     on conflict do nothing`,
    sql`update point_scores s set points = s.points + c.points from ${score}
     where ${orgFilter('s')} and s.period = c.period and s.starts_on = c."startsOn" and s.scope_id = c."scopeId"
       and s.member_id = c."memberId" and ${isSumKeptSql(sql.part`c`)}`,
  );
  const day = sql.part`jsonb_to_recordset(${JSON.stringify(days)}::jsonb) as c ("memberId" uuid, day date, points int)`;
  add(
    days,
    sql`insert into point_days (org_id, member_id, day, points)
     select ${currentOrgId}, c."memberId", c.day, 0 from ${day} on conflict do nothing`,
    sql`update point_days d set points = d.points + c.points from ${day}
     where ${orgFilter('d')} and d.member_id = c."memberId" and d.day = c.day`,
  );
}

/** Deletes the sums of leaderboards that no caller can request any more. */
export const deleteOldScores = () =>
  sql`delete from point_scores where ${orgFilter()} and (
       period = 'week' and starts_on < (date_trunc('week', now()) - interval '1 week')::date
       or period = 'month' and starts_on < (date_trunc('month', now()) - interval '1 month')::date)`;

/** Counts the members with points, or returns 1 or 0 for one member. */
export async function countMembersWithPoints(db: Db, memberId: string | null): Promise<number> {
  const { count } = await db.one(
    sql<{ count: number }>`select count(distinct t.member_id) from point_tallies t
       where ${orgFilter('t')} and t.points > 0 and (${memberId}::uuid is null or t.member_id = ${memberId}::uuid)`,
  );
  return count;
}

/**
 * Deletes the sums of a member or of all members, and records where their new points start. The start is the
 * activity's position at commit. The statement that reads the position locks its row, so it is sent last.
 */
export function resetSums(db: Db, memberId: string | null): void {
  const whose = memberId === null ? sql.part`true` : sql.part`member_id = ${memberId}`;
  db.deferToCommit(sql`delete from point_tallies where ${orgFilter()} and ${whose}`);
  db.deferToCommit(sql`delete from point_scores where ${orgFilter()} and ${whose}`);
  // Days before today are kept, because a streak never extends across a reset.
  db.deferToCommit(sql`delete from point_days where ${orgFilter()} and day >= now()::date and ${whose}`);
  db.deferToCommit(
    sql`with s as (select activity from streams where ${orgFilter()} for no key update)
       insert into point_resets (org_id, member_id, reset_seq, reset_on)
       select m.org_id, m.id, s.activity, now()::date from members m, s
       where ${orgFilter('m')} and ${memberId === null ? sql.part`true` : sql.part`m.id = ${memberId}`}
       on conflict (org_id, member_id) do update set reset_seq = excluded.reset_seq, reset_on = excluded.reset_on`,
  );
}
