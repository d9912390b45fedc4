/** What the way into done is judged by: what reviewers said of a story, whose work it is, and what the forge showed. */
import { type Db, type Id, of, type Part, sql } from '@muster/driver';
import { type Caller } from '@muster/runtime';
import { type Policy, type Trust } from '@muster/registry';
import { type Authors, countFresh, type Giver, type Review } from '../rules/reviews.ts';
import { type Gates } from '../rules/workflow.ts';
import { reviewable, type VerdictRow, toReview } from './reviewers.ts';
import { type StoryRow } from './stories.ts';

/** The verdicts that weigh something, fresh or stale, the authors whose approval may not count, and the merge. */
export interface Reviews {
  readonly verdicts: readonly (Review & Giver)[];
  readonly authors: Authors;
  readonly mergeSeen: Trust | null;
}

/** Of a story that is not going to be done. */
export const noReviews: Reviews = { verdicts: [], authors: new Set(), mergeSeen: null };

/** What the gates on a story's way are judged by. */
export const gatesOf = (
  story: Pick<StoryRow, 'spec_version' | 'code'> & { readonly has_spec: boolean },
  { verdicts, authors, mergeSeen }: Reviews,
  policy: Policy,
  caller: Caller,
): Gates => ({
  hasSpec: story.has_spec,
  ...countFresh(verdicts, reviewable(story), authors, policy),
  mergeSeen,
  isAgent: caller.agentId !== null,
});

interface Row {
  readonly id: string;
  readonly verdicts: readonly VerdictRow[];
  readonly authors: readonly string[];
  readonly merge_seen: Trust | null;
}

/**
 * SQL for the verdicts on a story that weigh something. A story has few reviewers, so they are judged by the rules
 * themselves and not by a copy of them in SQL.
 */
const verdictsOf = (story: Id): Part => sql.part`
  select r.verdict, r.spec_version, r.code_seq, r.head_sha, r.diff_hash, r.member_id, r.agent_id,
    m.id as acting_member_id, m.status = 'active' as is_active
  from story_reviewers r
  left join agents g on ${of('g')} and g.id = r.agent_id
  join members m on ${of('m')} and m.id = case when r.member_id is null then g.member_id else r.member_id end
  where ${of('r')} and r.story_id = ${story}.id and r.verdict in ('approved', 'changes_requested')`;

/**
 * SQL for the members whose work a story is: who is assigned, whose agent is, and who had a lease on it or on a group
 * that it is in, by an agent or not. Who wrote the spec asked for the work and did not do it.
 */
const authorsSql = (story: Id): Part => sql.part`
  select unnest(array[a.member_id, g.member_id]) as member_id
  from assignments a left join agents g on ${of('g')} and g.id = a.agent_id
  where ${of('a')} and a.target_type = 'story' and a.target_id = ${story}
  union
  select c.member_id
  from executions e join execution_contributors c on ${of('c')} and c.execution_id = e.id
  where ${of('e')} and (e.target_type, e.target_id) in (
    select 'story', ${story}
    union all
    select 'delivery_group', d.group_id from delivery_group_stories d where ${of('d')} and d.story_id = ${story})`;

/**
 * SQL for the best word there is of a merge of the newest work on a story, or of work on a group that it is in or landed
 * with, since which no work on the story itself began. By the observations: one that is made by this very call
 * counts. Of the two words for trust the greater text is the better one.
 */
const mergeSeenSql = (story: Id): Part => sql.part`(
  select max(w.trust) from (
    select o.trust from (select e.org_id, e.id from executions e
        where ${of('e')} and e.target_type = 'story' and e.target_id = ${story}.id
        order by e.id desc limit 1) n
      join forge_observations o on ${of('o')} and o.execution_id = n.id and o.kind = 'pr_merged'
    union all
    select o.trust from delivery_group_stories d
      join delivery_groups g on ${of('g')} and g.id = d.group_id and (d.open or g.state = 'landed')
      join executions e on ${of('e')} and e.target_type = 'delivery_group' and e.target_id = d.group_id
      join forge_observations o on ${of('o')} and o.execution_id = e.id and o.kind = 'pr_merged'
    where ${of('d')} and d.story_id = ${story}.id
      and not exists (select from executions b where ${of('b')} and b.target_type = 'story'
        and b.target_id = d.story_id and b.created_at > o.recorded_at)) w)`;

const rowsOf = (where: Part): Part => sql.part`
  select s.id,
    (select coalesce(jsonb_agg(v), '[]') from (${verdictsOf(sql.part`s`)}) v) as verdicts,
    (select coalesce(jsonb_agg(a.member_id), '[]') from (${authorsSql(sql.part`s.id`)}) a
      where a.member_id is not null) as authors,
    ${mergeSeenSql(sql.part`s`)} as merge_seen
  from stories s where ${where}`;

const toReviews = (row: Row): Reviews => ({
  verdicts: row.verdicts.map(toReview),
  authors: new Set(row.authors),
  mergeSeen: row.merge_seen,
});

export async function findReviews(db: Db, storyId: Id): Promise<Reviews> {
  const row = await db.find(sql<Row>`${rowsOf(sql.part`${of('s')} and s.id = ${storyId}`)}`);
  return row === undefined ? noReviews : toReviews(row);
}

/** Reviews of these stories, by story id. */
export async function findReviewsOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, Reviews>> {
  if (ids.length === 0) return new Map();
  const rows = await db.all(sql<Row>`${rowsOf(sql.part`${of('s')} and s.id = any (${ids}::uuid[])`)}`);
  return new Map(rows.map((row) => [row.id, toReviews(row)]));
}

/** Of all stories of a column, where the other stands for done; nothing of them otherwise. */
export async function findReviewsIn(
  db: Db,
  { columnId, targetId }: { readonly columnId: string; readonly targetId: string },
): Promise<ReadonlyMap<string, Reviews>> {
  const rows = await db.all(
    sql<Row>`${rowsOf(sql.part`${of('s')} and s.column_id = ${columnId}
        and s.project_id = (select c.project_id from board_columns c where ${of('c')} and c.id = ${columnId})
        and s.status <> 'done' and exists (select from board_columns t where ${of('t')} and t.id = ${targetId} and t.status = 'done')`)}`,
  );
  return new Map(rows.map((row) => [row.id, toReviews(row)]));
}

/** The members whose work the story is. */
export async function authorsOf(db: Db, storyId: Id): Promise<Authors> {
  const rows = await db.all(sql<{ member_id: string | null }>`${authorsSql(storyId)}`);
  return new Set(rows.flatMap(({ member_id }) => member_id ?? []));
}
