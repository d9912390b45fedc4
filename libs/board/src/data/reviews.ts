/** What reviewers said of a story, and whose work it is: what the way into done is judged by. */
import { type Db, sqlQuery, Values } from '@muster/database';
import { type Authors, type Review, type Who } from '../rules/reviews.ts';
import { type ReviewRow, toReview } from './reviewers.ts';

/** The verdicts that weigh something, fresh or stale, and the authors whose approval may not count. */
export interface Reviews {
  readonly verdicts: readonly (Review & Who)[];
  readonly authors: Authors;
}

/** Of a story that is not going to be done. */
export const noReviews: Reviews = { verdicts: [], authors: { memberIds: [], agentIds: [] } };

type VerdictRow = Pick<
  ReviewRow,
  'verdict' | 'spec_version' | 'head_sha' | 'diff_hash' | 'member_id' | 'agent_id'
>;

/** A story has few reviewers, so their verdicts are judged by the rules themselves and not by a copy of them in SQL. */
export async function findReviews(db: Db, orgId: string, storyRef: string): Promise<Reviews> {
  const values = new Values(orgId);
  const [rows, authors] = await Promise.all([
    db.all(
      sqlQuery<VerdictRow>(
        `select r.verdict, r.spec_version, r.head_sha, r.diff_hash, r.member_id, r.agent_id from story_reviewers r
         where r.org_id = ${values.org} and r.story_id = ${values.storyId(storyRef)}
           and r.verdict in ('approved', 'changes_requested')`,
        values.list,
      ),
    ),
    authorsOf(db, orgId, storyRef),
  ]);
  return { verdicts: rows.map(toReview), authors };
}

/**
 * Whose work the story is: the member who is assigned, the agent that is, the member whose agent it is, and whoever had
 * a lease on it. Whoever
 * wrote the spec asked for the work and did not do it.
 */
export async function authorsOf(db: Db, orgId: string, storyRef: string): Promise<Authors> {
  const values = new Values(orgId);
  const rows = await db.all(
    sqlQuery<{ member_id: string | null; agent_id: string | null; agent_member_id: string | null }>(
      `select a.member_id, a.agent_id, g.member_id as agent_member_id
       from assignments a left join agents g on g.org_id = a.org_id and g.id = a.agent_id
       where a.org_id = ${values.org} and a.target_type = 'story' and a.target_id = ${values.storyId(storyRef)}
       union all
       select c.member_id, nullif(c.agent_id, '00000000-0000-0000-0000-000000000000'), c.member_id
       from executions e join execution_contributors c on c.org_id = e.org_id and c.execution_id = e.id
       where e.org_id = ${values.org} and e.target_type = 'story' and e.target_id = ${values.storyId(storyRef)}`,
      values.list,
    ),
  );
  const isId = (id: string | null): id is string => id !== null;
  return {
    memberIds: rows.flatMap((row) => [row.member_id, row.agent_member_id].filter(isId)),
    agentIds: rows.map((row) => row.agent_id).filter(isId),
  };
}
