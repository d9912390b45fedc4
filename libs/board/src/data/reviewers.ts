/** The story_reviewers table: the reviewers of stories with their verdicts. */
import {
  CursorId,
  type Db,
  decodeCursor,
  type Id,
  of,
  pageOfRows,
  pageOfSearch,
  type Part,
  type Query,
  record,
  type RowOf,
  searched,
  sql,
} from '@muster/driver';
import { noCode, type Reviewer, type Verdict } from '@muster/registry';
import { type Caller, atWorkFor } from '@muster/runtime';
import { z } from 'zod';
import { type Giver, isStale, type Review, type Reviewable, type ReviewerId } from '../rules/reviews.ts';
import { keyOf, type StoryRow } from './stories.ts';

/** The maximum number of reviewers of a story. It bounds the cost of counting verdicts. */
export const mostReviewers = 50;

export const reviews = record('story_reviewers', 'r', {
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
type ListedRow = ReviewRow & {
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

export const toReview = (row: VerdictRow): Review & Giver => ({
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
export const reviewable = (story: Pick<StoryRow, 'spec_version' | 'code'>): Reviewable => ({
  specVersion: story.spec_version,
  code: story.code ?? noCode,
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
  underReview: {
    specVersion: story.spec_version,
    headSha: story.code?.headSha ?? null,
    diffHash: story.code?.diffHash ?? null,
  },
  decidedAt: row.decided_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  version: row.version,
});

const columns = sql.part`${reviews.list},
  coalesce(g.name, m.name) as reviewer_name, coalesce(g.member_id, m.id) as acting_member_id, o.status = 'active' as is_active`;
const withNames = sql.part`left join members m on ${of('m')} and m.id = r.member_id
  left join agents g on ${of('g')} and g.id = r.agent_id
  join members o on ${of('o')} and o.id = case when g.member_id is null then m.id else g.member_id end`;

/** Returns the condition that a row belongs to this reviewer. */
const isOf = ({ memberId, agentId }: ReviewerId): Part =>
  agentId === null ? sql.part`r.member_id = ${memberId}::uuid` : sql.part`r.agent_id = ${agentId}::uuid`;

/** Locks a reviewer's review of a story, if there is one. The caller locks the story first. */
export async function lockReview(db: Db, storyId: Id, who: ReviewerId): Promise<ReviewRow | undefined> {
  return db.find(
    sql<ReviewRow>`select ${columns} from story_reviewers r ${withNames}
       where ${of('r')} and r.story_id = ${storyId} and ${isOf(who)}
       for no key update of r`,
  );
}

/** Counts the reviewers of a story, and reports if the given member or agent is among them. */
export async function countReviewers(
  db: Db,
  storyId: Id,
  who: ReviewerId,
): Promise<{ count: number; isAmong: boolean }> {
  const { count, is_among } = await db.one(
    sql<{
      count: number;
      is_among: boolean;
    }>`select count(*)::int as count, coalesce(bool_or(${isOf(who)}), false) as is_among
       from story_reviewers r where ${of('r')} and r.story_id = ${storyId}`,
  );
  return { count, isAmong: is_among };
}

export const deleteReviewer = (id: string): Query<unknown> =>
  sql`delete from story_reviewers where ${of()} and id = ${id}`;

const Cursor = z.tuple([CursorId]);

interface Page {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * The columns shown of rows `r`. The rows of a page are chosen before the join, so not all reviews of a
 * member are joined.
 */
const shown = sql.part`${columns}, p.key as project_key, s.number, s.title, s.spec_version as current_spec_version, s.code`;
const withStories = sql.part`join stories s on ${of('s')} and s.id = r.story_id
  join projects p on ${of('p')} and p.id = r.project_id ${withNames}`;

const toListed = (row: ListedRow): Reviewer =>
  toReviewer(row, { ...row, id: row.story_id, spec_version: row.current_spec_version });
const cursorOf = (row: ListedRow) => [row.id];

/** Lists a page of a story's reviewers, in the order in which they were added. */
export async function listReviewers(
  db: Db,
  storyId: Id,
  page: Page,
): Promise<{ items: Reviewer[]; nextCursor: string | null }> {
  const after = decodeCursor(page.cursor, Cursor);
  const isAfter = after === undefined ? sql.empty : sql.part`and r.id > ${after[0]}::uuid`;
  const rows = await db.all(
    sql<ListedRow>`select ${shown} from story_reviewers r ${withStories}
       where ${of('r')} and r.story_id = ${storyId} ${isAfter} order by r.id limit ${page.limit + 1}`,
  );
  return pageOfRows(rows, page.limit, cursorOf, toListed);
}

/** Lists a page of the review requests of a member or an agent that the caller may see, newest first. */
export async function listReviewsOf(
  db: Db,
  caller: Caller,
  who: ReviewerId,
  { limit, cursor, verdict }: Page & { readonly verdict?: Verdict | undefined },
): Promise<{ items: Reviewer[]; nextCursor: string | null }> {
  const after = decodeCursor(cursor, Cursor);
  const isAfter = after === undefined ? sql.empty : sql.part`and r.id < ${after[0]}::uuid`;
  const fits = [sql.part`q.project_id in (select v.project_id from ${atWorkFor(caller)} v)`];
  if (verdict !== undefined) fits.push(sql.part`q.verdict = ${verdict}`);
  const looked = searched(
    sql.part`select r.* from story_reviewers r where ${of('r')} and ${isOf(who)} ${isAfter} order by r.id desc`,
    sql.join(fits, ' and '),
    sql.part`q.id desc`,
    sql.literal(limit + 1),
  );
  const rows = await db.all(
    sql<ListedRow>`select ${shown}, r.fits, r.nth from (${looked}) r ${withStories} order by r.id desc`,
  );
  return pageOfSearch(rows, limit, cursorOf, toListed);
}
