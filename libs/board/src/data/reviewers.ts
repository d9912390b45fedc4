/** The story_reviewers table: who reviews a story, and the verdict. */
import { type DB, type Db, decodeCursor, pageOfRows, type Query, sqlQuery, Values } from '@muster/database';
import { isUuid, type Reviewer, type Verdict } from '@muster/registry';
import { type Caller, visibleProjects } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { z } from 'zod';
import { isStale, type Review, type Reviewable, type Who } from '../rules/reviews.ts';
import { keyOf, type StoryRow } from './stories.ts';

export type ReviewRow = Omit<Selectable<DB['story_reviewers']>, 'org_id'> & {
  readonly reviewer_name: string;
  /** The reviewer, or the member whose agent it is. */
  readonly acting_member_id: string;
};

/** What has to be known of the story to speak of its reviews. */
type ReviewedStory = Pick<
  StoryRow,
  'id' | 'project_id' | 'project_key' | 'number' | 'title' | 'spec_version' | 'git'
>;
type ListedRow = ReviewRow & {
  readonly project_key: string;
  readonly number: number;
  readonly title: string;
  readonly current_spec_version: number;
  readonly git: StoryRow['git'];
};

export const toReview = (
  row: Pick<ReviewRow, 'verdict' | 'spec_version' | 'head_sha' | 'diff_hash' | 'member_id' | 'agent_id'>,
): Review & Who => ({
  verdict: row.verdict,
  specVersion: row.spec_version,
  headSha: row.head_sha,
  diffHash: row.diff_hash,
  memberId: row.member_id,
  agentId: row.agent_id,
});

/** What there is to review of a story now. */
export const reviewable = (story: Pick<StoryRow, 'spec_version' | 'git'>): Reviewable => ({
  specVersion: story.spec_version,
  headSha: story.git?.headSha ?? null,
  diffHash: story.git?.diffHash ?? null,
});

export const toReviewer = (row: ReviewRow, story: ReviewedStory): Reviewer => ({
  id: row.id,
  storyId: story.id,
  storyKey: keyOf(story),
  storyTitle: story.title,
  projectId: story.project_id,
  reviewer: {
    kind: row.agent_id === null ? 'member' : 'agent',
    id: row.agent_id ?? row.acting_member_id,
    name: row.reviewer_name,
    memberId: row.acting_member_id,
    agentId: row.agent_id,
  },
  verdict: row.verdict,
  stale: isStale(toReview(row), reviewable(story)),
  note: row.note,
  specVersion: row.spec_version,
  headSha: row.head_sha,
  diffHash: row.diff_hash,
  decidedAt: row.decided_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

const columns = `r.id, r.story_id, r.project_id, r.member_id, r.agent_id, r.verdict, r.note, r.spec_version, r.head_sha,
  r.diff_hash, r.decided_at, r.created_at, r.updated_at, r.version,
  coalesce(g.name, m.name) as reviewer_name, coalesce(g.member_id, m.id) as acting_member_id`;
const withNames = `left join members m on m.org_id = r.org_id and m.id = r.member_id
  left join agents g on g.org_id = r.org_id and g.id = r.agent_id`;

/** SQL for the condition that the row is this reviewer's. */
const isOf = (values: Values, { memberId, agentId }: Who): string =>
  agentId === null ? `r.member_id = ${values.$(memberId)}::uuid` : `r.agent_id = ${values.uuid(agentId)}`;

/** Locks somebody's review of a story, if they review it; the story must be locked before. */
export async function lockReview(
  db: Db,
  orgId: string,
  storyRef: string,
  who: Who,
): Promise<ReviewRow | undefined> {
  const values = new Values(orgId);
  return db.find(
    sqlQuery<ReviewRow>(
      `select ${columns} from story_reviewers r ${withNames}
       where r.org_id = ${values.org} and r.story_id = ${values.storyId(storyRef)} and ${isOf(values, who)}
       for no key update of r`,
      values.list,
    ),
  );
}

/** How many reviewers a story has, and whether this is one of them. */
export async function countReviewers(
  db: Db,
  orgId: string,
  storyRef: string,
  who: Who,
): Promise<{ count: number; isAmong: boolean }> {
  const values = new Values(orgId);
  const { count, is_among } = await db.one(
    sqlQuery<{ count: number; is_among: boolean }>(
      `select count(*)::int as count, coalesce(bool_or(${isOf(values, who)}), false) as is_among
       from story_reviewers r where r.org_id = ${values.org} and r.story_id = ${values.storyId(storyRef)}`,
      values.list,
    ),
  );
  return { count, isAmong: is_among };
}

export const insertReviewer = (orgId: string, row: ReviewRow): Query<unknown> =>
  sqlQuery(
    `insert into story_reviewers (org_id, id, story_id, project_id, member_id, agent_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      orgId,
      row.id,
      row.story_id,
      row.project_id,
      row.member_id,
      row.agent_id,
      row.created_at,
      row.updated_at,
    ],
  );

/** Writes the verdict of a locked review as it is now. */
export const setReview = (orgId: string, row: ReviewRow): Query<unknown> =>
  sqlQuery(
    `update story_reviewers set verdict = $3, note = $4, spec_version = $5, head_sha = $6, diff_hash = $7,
       decided_at = $8, updated_at = $9, version = $10
     where org_id = $1 and id = $2`,
    [
      orgId,
      row.id,
      row.verdict,
      row.note,
      row.spec_version,
      row.head_sha,
      row.diff_hash,
      row.decided_at,
      row.updated_at,
      row.version,
    ],
  );

export const deleteReviewer = (orgId: string, id: string): Query<unknown> =>
  sqlQuery('delete from story_reviewers where org_id = $1 and id = $2', [orgId, id]);

const Cursor = z.tuple([z.string().refine(isUuid)]);

interface Page {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

async function list(
  db: Db,
  values: Values,
  where: readonly string[],
  order: 'asc' | 'desc',
  page: Page,
): Promise<{ items: Reviewer[]; nextCursor: string | null }> {
  const after = decodeCursor(page.cursor, Cursor);
  const conditions = [`r.org_id = ${values.org}`, ...where];
  if (after !== undefined) conditions.push(`r.id ${order === 'asc' ? '>' : '<'} ${values.uuid(after[0])}`);
  const rows = await db.all(
    sqlQuery<ListedRow>(
      `select ${columns}, p.key as project_key, s.number, s.title, s.spec_version as current_spec_version, s.git
       from story_reviewers r
       join stories s on s.org_id = r.org_id and s.id = r.story_id
       join projects p on p.org_id = r.org_id and p.id = r.project_id
       ${withNames}
       where ${conditions.join(' and ')} order by r.id ${order} limit ${values.$(page.limit + 1)}`,
      values.list,
    ),
  );
  return pageOfRows(
    rows,
    page.limit,
    (row) => [row.id],
    (row) => toReviewer(row, { ...row, id: row.story_id, spec_version: row.current_spec_version }),
  );
}

/** A page of the reviewers of a story, in the order in which they were asked. */
export function listReviewers(db: Db, orgId: string, storyRef: string, page: Page) {
  const values = new Values(orgId);
  return list(db, values, [`r.story_id = ${values.storyId(storyRef)}`], 'asc', page);
}

/** A page of what somebody is asked to review where the caller may see it, the latest first. */
export function listReviewsOf(
  db: Db,
  caller: Caller,
  who: Who,
  page: Page & { readonly verdict?: Verdict | undefined },
) {
  const values = new Values(caller.orgId);
  const where = [
    isOf(values, who),
    `r.project_id in (select v.project_id from ${visibleProjects(values, caller)} v)`,
  ];
  if (page.verdict !== undefined) where.push(`r.verdict = ${values.$(page.verdict)}`);
  return list(db, values, where, 'desc', page);
}
