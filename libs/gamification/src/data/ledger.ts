/** The ledger of points, and the activity from which it is counted. */
import { type Db, orgFilter, currentOrgId, sql } from '@muster/driver';
import {
  type CountedPoints,
  type AwardedPoints,
  type LedgerContext,
  type RevokedPoints,
} from '../rules/ledger.ts';
import { isPointKind, type PointActivity } from '../rules/points.ts';

interface OccurrenceRow extends Omit<PointActivity, 'actorMemberId' | 'projectId' | 'subjectId'> {
  readonly actor_member_id: string | null;
  readonly project_id: string | null;
  readonly subject_id: string;
}

/**
 * Lists activity that is not counted yet, oldest first. The numbers have no gaps and follow the commits, so
 * no entry can appear later between those already read.
 */
export async function listUncountedActivity(db: Db, limit: number): Promise<PointActivity[]> {
  const rows = await db.all(
    sql<OccurrenceRow>`select e.seq, e.kind, e.project_id, e.subject ->> 'id' as subject_id, e.data, e.at, m.id as actor_member_id
       from activity e left join members m on m.org_id = e.org_id and m.id = e.member_id
       where ${orgFilter('e')} and e.seq > (select g.counted_seq from gamification_state g where ${orgFilter('g')})
       order by e.seq limit ${limit}`,
  );
  return rows.map(({ actor_member_id, project_id, subject_id, ...row }) => ({
    ...row,
    actorMemberId: actor_member_id,
    projectId: project_id,
    subjectId: subject_id,
  }));
}

interface EntryRow {
  readonly activity_seq: number;
  readonly member_id: string;
  readonly kind: string;
  readonly subject_id: string;
  readonly project_id: string | null;
  readonly points: number;
  readonly at: string;
}

const toAwardedPoints = ({ kind, ...row }: EntryRow): AwardedPoints[] =>
  // Entries of kinds that no longer exist stay in the ledger, and are ignored.
  isPointKind(kind)
    ? [
        {
          activitySeq: row.activity_seq,
          memberId: row.member_id,
          kind,
          subjectId: row.subject_id,
          projectId: row.project_id,
          points: row.points,
          at: row.at,
        },
      ]
    : [];

/** Lists the valid points given for these subjects. Points from before a reset are not valid. */
export async function listValidPoints(db: Db, subjectIds: readonly string[]): Promise<AwardedPoints[]> {
  const rows = await db.all(
    sql<EntryRow>`select e.activity_seq, e.member_id, e.kind, e.subject_id, e.project_id, e.points, e.at
       from point_entries e left join point_resets r on r.org_id = e.org_id and r.member_id = e.member_id
       where ${orgFilter('e')} and e.subject_id = any (${subjectIds}::uuid[]) and e.taken_back_seq is null
         and e.activity_seq > coalesce(r.reset_seq, 0)
       order by e.activity_seq`,
  );
  return rows.flatMap(toAwardedPoints);
}

/**
 * Finds each story's assignee at the time it was done: the member, or else the agent's member. The keys are
 * the numbers of the activity entries. It reads the activity, because the story may have another assignee
 * when it is counted. Former members are left out.
 */
export async function findAssignees(
  db: Db,
  doneOccurrences: readonly PointActivity[],
): Promise<LedgerContext['assigneeBySeq']> {
  const rows = await db.all(
    sql<{ seq: number; member_id: string }>`select d.seq, m.id as member_id
       from unnest(${doneOccurrences.map(({ seq }) => seq)}::bigint[], ${doneOccurrences.map(({ subjectId }) => subjectId)}::uuid[]) d (seq, story_id)
       cross join lateral (
         select e.kind, (e.data ->> 'memberId')::uuid as member_id, (e.data ->> 'agentId')::uuid as agent_id from activity e
         where ${orgFilter('e')} and e.story_id = d.story_id and e.seq < d.seq
           and e.kind in ('assignment.changed', 'assignment.cleared')
         order by e.seq desc limit 1) last
       left join agents g on ${orgFilter('g')} and g.id = last.agent_id
       join members m on ${orgFilter('m')} and m.id = case when last.member_id is null then g.member_id else last.member_id end
         and m.status = 'active'
       where last.kind = 'assignment.changed'`,
  );
  return new Map(rows.map((row) => [row.seq, row.member_id]));
}

export async function listResets(db: Db): Promise<LedgerContext['resetSeqByMember']> {
  const rows = await db.all(
    sql<{
      member_id: string;
      reset_seq: number;
    }>`select member_id, reset_seq from point_resets where ${orgFilter()}`,
  );
  return new Map(rows.map((row) => [row.member_id, row.reset_seq]));
}

const ledgerKeyOf = (entry: Pick<AwardedPoints, 'activitySeq' | 'memberId' | 'kind'>): string =>
  `${entry.activitySeq} ${entry.memberId} ${entry.kind}`;

interface LedgerKeyRow {
  readonly activity_seq: number;
  readonly member_id: string;
  readonly kind: string;
}

/**
 * Writes entries of the ledger, and returns only the new ones. A repeated count therefore changes nothing.
 */
export async function storeEntries(db: Db, { awarded, revoked }: CountedPoints): Promise<CountedPoints> {
  if (awarded.length + revoked.length === 0) return { awarded, revoked };
  const [added, taken] = await Promise.all([
    db.all(
      sql<LedgerKeyRow>`insert into point_entries (org_id, activity_seq, member_id, kind, subject_id, project_id, points, at)
         select ${currentOrgId}, e.* from jsonb_to_recordset(${JSON.stringify(awarded)}::jsonb) as e (
           "activitySeq" bigint, "memberId" uuid, kind text, "subjectId" uuid, "projectId" uuid, points int, at timestamptz)
         on conflict do nothing
         returning activity_seq, member_id, kind`,
    ),
    db.all(
      sql<LedgerKeyRow>`update point_entries e set taken_back_seq = t."bySeq"
         from jsonb_to_recordset(${JSON.stringify(revoked.map((entry) => ({ ...entry.award, bySeq: entry.bySeq })))}::jsonb) as t ("activitySeq" bigint, "memberId" uuid, kind text, "bySeq" bigint)
         where ${orgFilter('e')} and e.activity_seq = t."activitySeq" and e.member_id = t."memberId" and e.kind = t.kind
           and e.taken_back_seq is null
         returning e.activity_seq, e.member_id, e.kind`,
    ),
  ]);
  const isIn = (rows: readonly LedgerKeyRow[]) => {
    const keys = new Set(rows.map((row) => `${row.activity_seq} ${row.member_id} ${row.kind}`));
    return (entry: AwardedPoints) => keys.has(ledgerKeyOf(entry));
  };
  const isAdded = isIn(added);
  const isTaken = isIn(taken);
  return {
    awarded: awarded.filter(isAdded),
    revoked: revoked.filter((entry: RevokedPoints) => isTaken(entry.award)),
  };
}
