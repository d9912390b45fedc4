/** Reads the facts that a move to done depends on: verdicts, authors, and the proof of a merge. */
import { type Db, type IdOrSql, orgFilter, type Part, sql } from '@muster/driver';
import { type Caller } from '@muster/runtime';
import { type Policy, type Trust } from '@muster/contract';
import { type Evidence, findFreshEvidence } from '../rules/evidence.ts';
import { type AuthorIds, countFreshVerdicts, type VerdictGiver, type Review } from '../rules/reviews.ts';
import { type GateFacts } from '../rules/workflow.ts';
import { toReviewable, type VerdictRow, toReview } from './reviewers.ts';
import { type StoryRow } from './stories.ts';

/**
 * The facts about reviews that decide if a story may move to done. The verdicts include stale ones. An
 * approval by one of the authors may not count.
 */
export interface Reviews {
  readonly verdicts: readonly (Review & VerdictGiver)[];
  readonly authors: AuthorIds;
  readonly mergeTrust: Trust | null;
  /** The evidence on the story and its last execution, oldest first. */
  readonly evidence: readonly Evidence[];
}

/** The empty result for a story that does not move to done. */
export const noReviews: Reviews = { verdicts: [], authors: new Set(), mergeTrust: null, evidence: [] };

/** Returns the facts that the gates of a move depend on. */
export const toMoveGates = (
  story: Pick<StoryRow, 'spec_version' | 'code'> & { readonly has_spec: boolean },
  { verdicts, authors, mergeTrust, evidence }: Reviews,
  policy: Policy,
  caller: Caller,
): GateFacts => ({
  hasSpec: story.has_spec,
  ...countFreshVerdicts(verdicts, toReviewable(story), authors, policy),
  mergeTrust,
  freshEvidence: findFreshEvidence(evidence, story.code),
  isAgent: caller.agentId !== null,
});

interface ReviewsRow {
  readonly id: string;
  readonly verdicts: readonly VerdictRow[];
  readonly authors: readonly string[];
  readonly merge_seen: Trust | null;
  readonly evidence: readonly Evidence[];
}

/**
 * Returns SQL for the verdicts on a story that can count: those that were given here. A story has few reviewers, so
 * TypeScript applies the rules, and SQL needs no copy of them.
 */
const selectVerdicts = (story: IdOrSql): Part => sql.part`
  select r.verdict, r.spec_version, r.code_seq, r.head_sha, r.diff_hash, r.member_id, r.agent_id,
    m.id as acting_member_id, m.status = 'active' as is_active
  from story_reviewers r
  left join agents g on ${orgFilter('g')} and g.id = r.agent_id
  join members m on ${orgFilter('m')} and m.id = case when r.member_id is null then g.member_id else r.member_id end
  where ${orgFilter('r')} and r.story_id = ${story}.id and r.verdict in ('approved', 'changes_requested')
    and r.imported_by is null`;

/**
 * Returns SQL for the members who worked on a story. These are assigned members, the members of assigned
 * agents, and all who held a lease on the story or on its groups, in person or by an agent. The author of the
 * spec requested the work and does not count.
 */
const selectAuthors = (story: IdOrSql): Part => sql.part`
  select unnest(array[a.member_id, g.member_id]) as member_id
  from assignments a left join agents g on ${orgFilter('g')} and g.id = a.agent_id
  where ${orgFilter('a')} and a.target_type = 'story' and a.target_id = ${story}
  union
  select c.member_id
  from executions e join execution_contributors c on ${orgFilter('c')} and c.execution_id = e.id
  where ${orgFilter('e')} and (e.target_type, e.target_id) in (
    select 'story', ${story}
    union all
    select 'delivery_group', d.group_id from delivery_group_stories d where ${orgFilter('d')} and d.story_id = ${story})`;

/**
 * Returns SQL for the strongest trust in a merge of the newest work on a story or its open or landed group. A
 * merge does not count if work on the story itself began later. It reads the observations, so one recorded by
 * this same call counts. `max` works because the text of the stronger trust is the greater one.
 */
const selectMergeTrustOfWork = (story: Part): Part => sql.part`(
  select max(w.trust) from (
    select o.trust from (select e.org_id, e.id from executions e
        where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = ${story}.id
        order by e.id desc limit 1) n
      join forge_observations o on ${orgFilter('o')} and o.execution_id = n.id and o.kind = 'pr_merged'
    union all
    select o.trust from delivery_group_stories d
      join delivery_groups g on ${orgFilter('g')} and g.id = d.group_id and (d.open or g.state = 'landed')
      join executions e on ${orgFilter('e')} and e.target_type = 'delivery_group' and e.target_id = d.group_id
      join forge_observations o on ${orgFilter('o')} and o.execution_id = e.id and o.kind = 'pr_merged'
    where ${orgFilter('d')} and d.story_id = ${story}.id
      and not exists (select from executions b where ${orgFilter('b')} and b.target_type = 'story'
        and b.target_id = d.story_id and b.created_at > o.recorded_at)) w)`;

/**
 * Returns SQL for the trust in a merge of a story. The merges of a parent are those of its children: the weakest
 * of them counts, and canceled children need none.
 */
const selectMergeTrust = (story: Part): Part => sql.part`greatest(${selectMergeTrustOfWork(story)},
  (select case when count(*) = count(h.trust) then min(h.trust) end
    from (select ${selectMergeTrustOfWork(sql.part`c`)} as trust from stories c
      where ${orgFilter('c')} and c.parent_id = ${story}.id and c.status <> 'canceled') h))`;

/** Returns SQL for the evidence on a story and on its last execution. */
const selectEvidence = (story: IdOrSql): Part => sql.part`
  select a.kind, a.name, a.report, a.code_seq as "codeSeq", a.head_sha as "headSha"
  from attachments a where ${orgFilter('a')} and a.story_id = ${story}.id and a.state = 'stored' and a.comment_id is null
    and (a.execution_id is null or a.execution_id = (select e.id from executions e
      where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = ${story}.id order by e.id desc limit 1))
  order by a.id`;

const selectReviews = (where: Part): Part => sql.part`
  select s.id,
    (select coalesce(jsonb_agg(v), '[]') from (${selectVerdicts(sql.part`s`)}) v) as verdicts,
    (select coalesce(jsonb_agg(a.member_id), '[]') from (${selectAuthors(sql.part`s.id`)}) a
      where a.member_id is not null) as authors,
    ${selectMergeTrust(sql.part`s`)} as merge_seen,
    (select coalesce(jsonb_agg(e), '[]') from (${selectEvidence(sql.part`s`)}) e) as evidence
  from stories s where ${where}`;

const toReviews = (row: ReviewsRow): Reviews => ({
  verdicts: row.verdicts.map(toReview),
  authors: new Set(row.authors),
  mergeTrust: row.merge_seen,
  evidence: row.evidence,
});

export async function findReviews(db: Db, storyId: IdOrSql): Promise<Reviews> {
  const row = await db.find(
    sql<ReviewsRow>`${selectReviews(sql.part`${orgFilter('s')} and s.id = ${storyId}`)}`,
  );
  return row === undefined ? noReviews : toReviews(row);
}

/** Reads the reviews of these stories, by story ID. */
export async function findReviewsByStoryIds(
  db: Db,
  storyIds: readonly string[],
): Promise<ReadonlyMap<string, Reviews>> {
  if (storyIds.length === 0) return new Map();
  const rows = await db.all(
    sql<ReviewsRow>`${selectReviews(sql.part`${orgFilter('s')} and s.id = any (${storyIds}::uuid[])`)}`,
  );
  return new Map(rows.map((row) => [row.id, toReviews(row)]));
}

/**
 * Reads the reviews of all stories of a column if the target column's status is done; the result is empty
 * otherwise.
 */
export async function findReviewsOfColumn(
  db: Db,
  { columnId, targetId }: { readonly columnId: string; readonly targetId: string },
): Promise<ReadonlyMap<string, Reviews>> {
  const rows = await db.all(
    sql<ReviewsRow>`${selectReviews(sql.part`${orgFilter('s')} and s.column_id = ${columnId}
        and s.project_id = (select c.project_id from board_columns c where ${orgFilter('c')} and c.id = ${columnId})
        and s.status <> 'done' and exists (select from board_columns t where ${orgFilter('t')} and t.id = ${targetId} and t.status = 'done')`)}`,
  );
  return new Map(rows.map((row) => [row.id, toReviews(row)]));
}

/** Reads the members who worked on the story. */
export async function findWorkAuthors(db: Db, storyId: IdOrSql): Promise<AuthorIds> {
  const rows = await db.all(sql<{ member_id: string | null }>`${selectAuthors(storyId)}`);
  return new Set(rows.flatMap(({ member_id }) => member_id ?? []));
}
