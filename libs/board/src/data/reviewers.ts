/** The story_reviewers table: the reviewers of stories with their verdicts. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type IdOrSql,
  orgFilter,
  pageOfRows,
  pageOfSearchRows,
  type Part,
  type Query,
  defineRecord,
  type RowOf,
  searchPageSql,
  sql,
} from '@muster/driver';
import { noReportedCode, type Reviewer, type Verdict } from '@muster/contract';
import { type Caller, activeProjectsVisibleTo } from '@muster/runtime';
import { z } from 'zod';
import {
  type VerdictGiver,
  isReviewStale,
  type Review,
  type ReviewableContent,
  type ReviewerIdentity,
} from '../rules/reviews.ts';
import { toStoryKey, type StoryRow } from './stories.ts';

/** The maximum number of reviewers of a story. It bounds the cost of counting verdicts. */
export const maxReviewers = 50;

export const reviews = defineRecord('story_reviewers', 'r', {
  story_id: {},
  project_id: {},
  member_id: {},
  agent_id: {},
  verdict: { initial: 'pending' },
  note: { initial: null },
  spec_version: { initial: null },
  code_seq: { initial: null },
  head_sha: { initial: null },
  diff_hash: { initial: null },
  decided_at: { initial: null },
  imported_by: { initial: null },
  imported_from: { initial: null },
});
export type ReviewRow = RowOf<typeof reviews> & {
  readonly reviewer_name: string;
  /** The reviewing member, or the owner of the reviewing agent. */
  readonly acting_member_id: string;
  /** True if the acting member is still active. */
  readonly is_active: boolean;
};

/** The columns of the story needed to describe its reviews. */
type ReviewedStory = Pick<
  StoryRow,
  'id' | 'project_id' | 'project_key' | 'number' | 'title' | 'spec_version' | 'code'
>;
export type ListedReviewRow = ReviewRow & {
  readonly project_key: string;
  readonly number: number;
  readonly title: string;
  readonly current_spec_version: number;
  readonly code: StoryRow['code'];
};

/** The columns of a review that decide if it counts. */
export type VerdictRow = Pick<
  ReviewRow,
  | 'verdict'
  | 'spec_version'
  | 'code_seq'
  | 'head_sha'
  | 'diff_hash'
  | 'member_id'
  | 'agent_id'
  | 'acting_member_id'
  | 'is_active'
>;

export const toReview = (row: VerdictRow): Review & VerdictGiver => ({
  verdict: row.verdict,
  specVersion: row.spec_version,
  codeSeq: row.code_seq,
  headSha: row.head_sha,
  diffHash: row.diff_hash,
  memberId: row.member_id,
  agentId: row.agent_id,
  actingMemberId: row.acting_member_id,
  isActive: row.is_active,
});

/** Returns the current content of a story to review. */
export const toReviewable = (story: Pick<StoryRow, 'spec_version' | 'code'>): ReviewableContent => ({
  specVersion: story.spec_version,
  code: story.code ?? noReportedCode,
});

export const toReviewer = (row: ReviewRow, story: ReviewedStory): Reviewer => ({
  id: row.id,
  storyId: story.id,
  storyKey: toStoryKey(story),
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
  stale: isReviewStale(toReview(row), toReviewable(story)),
  note: row.note,
  specVersion: row.spec_version,
  headSha: row.head_sha,
  diffHash: row.diff_hash,
  underReview: {
    specVersion: story.spec_version,
    headSha: story.code?.headSha ?? null,
    diffHash: story.code?.diffHash ?? null,
  },
  decidedAt: row.decided_at,
  importedBy: row.imported_by,
  importedFrom: row.imported_from,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

const reviewColumns = sql.part`${reviews.list},
  coalesce(g.name, m.name) as reviewer_name, coalesce(g.member_id, m.id) as acting_member_id, o.status = 'active' as is_active`;
const reviewerJoins = sql.part`left join members m on ${orgFilter('m')} and m.id = r.member_id
  left join agents g on ${orgFilter('g')} and g.id = r.agent_id
  join members o on ${orgFilter('o')} and o.id = case when g.member_id is null then m.id else g.member_id end`;

/** Returns the condition that a row belongs to this reviewer. */
const isReviewOf = ({ memberId, agentId }: ReviewerIdentity): Part =>
  agentId === null ? sql.part`r.member_id = ${memberId}::uuid` : sql.part`r.agent_id = ${agentId}::uuid`;

/** Locks a reviewer's review of a story, if there is one. The caller locks the story first. */
export async function lockReview(
  db: Db,
  storyId: IdOrSql,
  reviewerId: ReviewerIdentity,
): Promise<ReviewRow | undefined> {
  return db.find(
    sql<ReviewRow>`select ${reviewColumns} from story_reviewers r ${reviewerJoins}
       where ${orgFilter('r')} and r.story_id = ${storyId} and ${isReviewOf(reviewerId)}
       for no key update of r`,
  );
}

/** Counts the reviewers of a story, and reports if the given member or agent is among them. */
export async function countReviewers(
  db: Db,
  storyId: IdOrSql,
  reviewerId: ReviewerIdentity,
): Promise<{ count: number; isReviewer: boolean }> {
  const { count, is_among } = await db.one(
    sql<{
      count: number;
      is_among: boolean;
    }>`select count(*)::int as count, coalesce(bool_or(${isReviewOf(reviewerId)}), false) as is_among
       from story_reviewers r where ${orgFilter('r')} and r.story_id = ${storyId}`,
  );
  return { count, isReviewer: is_among };
}

export const deleteReviewer = (id: string): Query<unknown> =>
  sql`delete from story_reviewers where ${orgFilter()} and id = ${id}`;

const Cursor = z.tuple([CursorId]);

interface ReviewPageParams {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * The columns shown of rows `r`. The rows of a page are chosen before the join, so not all reviews of a
 * member are joined.
 */
const listedReviewColumns = sql.part`${reviewColumns}, p.key as project_key, s.number, s.title, s.spec_version as current_spec_version, s.code`;
const storyAndReviewerJoins = sql.part`join stories s on ${orgFilter('s')} and s.id = r.story_id
  join projects p on ${orgFilter('p')} and p.id = r.project_id ${reviewerJoins}`;

/** Returns SQL for reviews `r` that meet the condition, as an export reads them. */
export const archivedReviewSql = (condition: Part): Part =>
  sql.part`select ${listedReviewColumns} from story_reviewers r ${storyAndReviewerJoins} where ${orgFilter('r')} and ${condition}`;

export const toListedReviewer = (row: ListedReviewRow): Reviewer =>
  toReviewer(row, { ...row, id: row.story_id, spec_version: row.current_spec_version });
const toReviewCursor = (row: ListedReviewRow) => [row.id];

/** Lists a page of a story's reviewers, in the order in which they were added. */
export async function listReviewers(
  db: Db,
  storyId: IdOrSql,
  page: ReviewPageParams,
): Promise<{ items: Reviewer[]; nextCursor: string | null }> {
  const after = decodeCursor(page.cursor, Cursor);
  const isAfter = after === undefined ? sql.empty : sql.part`and r.id > ${after[0]}::uuid`;
  const rows = await db.all(
    sql<ListedReviewRow>`select ${listedReviewColumns} from story_reviewers r ${storyAndReviewerJoins}
       where ${orgFilter('r')} and r.story_id = ${storyId} ${isAfter} order by r.id limit ${page.limit + 1}`,
  );
  return pageOfRows(rows, page.limit, toReviewCursor, toListedReviewer);
}

/** Lists a page of the review requests of a member or an agent that the caller may see, newest first. */
export async function listReviewRequestsOf(
  db: Db,
  caller: Caller,
  reviewerId: ReviewerIdentity,
  { limit, cursor, verdict }: ReviewPageParams & { readonly verdict?: Verdict | undefined },
): Promise<{ items: Reviewer[]; nextCursor: string | null }> {
  const after = decodeCursor(cursor, Cursor);
  const isAfter = after === undefined ? sql.empty : sql.part`and r.id < ${after[0]}::uuid`;
  const fits = [sql.part`q.project_id in (select v.project_id from ${activeProjectsVisibleTo(caller)} v)`];
  if (verdict !== undefined) fits.push(sql.part`q.verdict = ${verdict}`);
  const looked = searchPageSql(
    sql.part`select r.* from story_reviewers r where ${orgFilter('r')} and ${isReviewOf(reviewerId)} ${isAfter} order by r.id desc`,
    sql.join(fits, ' and '),
    sql.part`q.id desc`,
    sql.literal(limit + 1),
  );
  const rows = await db.all(
    sql<ListedReviewRow>`select ${listedReviewColumns}, r.fits, r.nth from (${looked}) r ${storyAndReviewerJoins} order by r.id desc`,
  );
  return pageOfSearchRows(rows, limit, toReviewCursor, toListedReviewer);
}
