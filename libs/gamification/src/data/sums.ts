/** The sums that are kept with the ledger. */
import { type Db, sqlQuery } from '@muster/database';
import { type SumChanges } from '../rules/sums.ts';

/** Of weeks and months, this one and the one before are kept. */
const isKept = (row: string): string => `case ${row}.period when 'all' then true
  else ${row}."startsOn" >= (date_trunc(${row}.period, now()) - ('1 ' || ${row}.period)::interval)::date end`;

/**
 * Adds the changes, with COMMIT. Rows are made with nothing first: an insert that is turned into an update still has
 * to keep the checks, and a change below zero would not.
 */
export function addToSums(db: Db, orgId: string, { tallies, scores, days }: SumChanges): void {
  const add = (rows: readonly unknown[], insert: string, update: string): void => {
    if (rows.length === 0) return;
    const parameters = [orgId, JSON.stringify(rows)];
    db.later(sqlQuery(insert, parameters));
    db.later(sqlQuery(update, parameters));
  };
  const tally = `jsonb_to_recordset($2::jsonb) as c ("memberId" uuid, kind text, points int, times int)`;
  add(
    tallies,
    `insert into point_tallies (org_id, member_id, kind, points, times)
     select $1, c."memberId", c.kind, 0, 0 from ${tally} on conflict do nothing`,
    `update point_tallies t set points = t.points + c.points, times = t.times + c.times from ${tally}
     where t.org_id = $1 and t.member_id = c."memberId" and t.kind = c.kind`,
  );
  const score = `jsonb_to_recordset($2::jsonb) as c (
    period text, "startsOn" date, "scopeId" uuid, "memberId" uuid, points int)`;
  add(
    scores,
    `insert into point_scores (org_id, period, starts_on, scope_id, member_id, points)
     select $1, c.period, c."startsOn", c."scopeId", c."memberId", 0 from ${score} where ${isKept('c')}
     on conflict do nothing`,
    `update point_scores s set points = s.points + c.points from ${score}
     where s.org_id = $1 and s.period = c.period and s.starts_on = c."startsOn" and s.scope_id = c."scopeId"
       and s.member_id = c."memberId" and ${isKept('c')}`,
  );
  const day = `jsonb_to_recordset($2::jsonb) as c ("memberId" uuid, day date, points int)`;
  add(
    days,
    `insert into point_days (org_id, member_id, day, points)
     select $1, c."memberId", c.day, 0 from ${day} on conflict do nothing`,
    `update point_days d set points = d.points + c.points from ${day}
     where d.org_id = $1 and d.member_id = c."memberId" and d.day = c.day`,
  );
}

/** Leaderboards that nobody can ask for any more. */
export const deleteOldScores = (orgId: string) =>
  sqlQuery(
    `delete from point_scores where org_id = $1 and (
       period = 'week' and starts_on < (date_trunc('week', now()) - interval '1 week')::date
       or period = 'month' and starts_on < (date_trunc('month', now()) - interval '1 month')::date)`,
    [orgId],
  );

/** How many have points: everybody, or of one member whether. */
export async function countWithPoints(db: Db, orgId: string, memberId: string | null): Promise<number> {
  const { count } = await db.one(
    sqlQuery<{ count: number }>(
      `select count(distinct t.member_id) from point_tallies t
       where t.org_id = $1 and t.points > 0 and ($2::uuid is null or t.member_id = $2)`,
      [orgId, memberId],
    ),
  );
  return count;
}

/**
 * Takes away the sums of a member, or everybody's, and notes where their points begin anew. That is where the
 * activity stands when this commits: its row is locked from here on, so this goes out last.
 */
export function resetSums(db: Db, orgId: string, memberId: string | null): void {
  const parameters = [orgId, memberId];
  const whose = '($2::uuid is null or member_id = $2)';
  db.later(sqlQuery(`delete from point_tallies where org_id = $1 and ${whose}`, parameters));
  db.later(sqlQuery(`delete from point_scores where org_id = $1 and ${whose}`, parameters));
  // Earlier days stay where they are: no streak reaches back over a reset.
  db.later(
    sqlQuery(`delete from point_days where org_id = $1 and day >= now()::date and ${whose}`, parameters),
  );
  db.later(
    sqlQuery(
      `with s as (select activity from streams where org_id = $1 for no key update)
       insert into point_resets (org_id, member_id, reset_seq, reset_on)
       select m.org_id, m.id, s.activity, now()::date from members m, s
       where m.org_id = $1 and ($2::uuid is null or m.id = $2)
       on conflict (org_id, member_id) do update set reset_seq = excluded.reset_seq, reset_on = excluded.reset_on`,
      parameters,
    ),
  );
}
