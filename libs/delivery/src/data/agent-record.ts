/**
 * Counts how the work of agents on stories turned out. The counts rest on verdicts of others, merges that the forge
 * verified, reverts and expired leases, and not on reports of agents. A story counts once for an agent, however often
 * the agent starts again. Models and costs are as reported.
 */
import {
  CursorCount,
  CursorText,
  type Db,
  decodeCursor,
  orgFilter,
  pageOfRows,
  type Part,
  sql,
} from '@muster/driver';
import { type AgentRecord, type AgentRecordGrouping, type ParamsOf, type ResultOf } from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { hasRepositoryLinkedTo, projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { type DayRange } from '../rules/day-range.ts';
import { exactSumSql } from './usage.ts';

type RecordOperation = DeliveryRegistry['agents']['record'];

/** The number of currencies whose costs are answered. */
const maxCurrencies = 5;

/** The number of executions that one call reads; the newest ones count. */
const maxExecutions = 10_000;

/** Selects the usage of this work of an agent on a story. `offset 0` keeps the planner from another index. */
const usageOf = (work: Part): Part => sql.part`(select u.* from (select d.* from usage_days d
    where ${orgFilter('d')} and d.story_id = ${work}.story_id offset 0) u
  where u.member_id = ${work}.member_id and u.agent_id = ${work}.agent_id and u.day >= ${work}.first_day)`;

/** Joins the groups of the work `w` of an agent on a story, as `k.id` and `k.name`. */
const groupings: Readonly<Record<AgentRecordGrouping, Part>> = {
  agent: sql.part`cross join lateral (select a.id::text as id, a.name from agents a where ${orgFilter('a')} and a.id = w.agent_id) k`,
  // A run may use several models. The one with the highest cost did most of the work.
  model: sql.part`cross join lateral (select m.model as id, coalesce(m.model, 'No model reported') as name from (select (
      select d.model from ${usageOf(sql.part`w`)} d group by d.model
      order by sum(d.cost_micros) desc, sum(d.output_tokens) desc, d.model limit 1) as model) m) k`,
  prompt: sql.part`cross join lateral (select p.id::text as id, p.slug || ' v' || p.version as name from prompts p
    where ${orgFilter('p')} and p.updated_at <= w.began_at
      and (p.project_id = w.project_id or p.project_id is null and not exists (select from prompts o
        where ${orgFilter('o')} and o.project_id = w.project_id and o.slug = p.slug and o.created_at <= w.began_at))) k`,
};

/** Returns the first id (UUID version 7) of a millisecond. */
function minUuidAt(millis: number): string {
  const hex = Math.max(0, millis).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const dayMillis = 24 * 60 * 60 * 1_000;
const dayStart = (time: string): number => Math.floor(Date.parse(time) / dayMillis) * dayMillis;

const Cursor = z.tuple([CursorCount, CursorText]);

interface RecordRow extends Omit<AgentRecord, 'key'> {
  readonly id: string | null;
  readonly name: string;
}

const agentOf = (actor: Part): Part =>
  sql.part`(${actor} ->> 'memberId')::uuid as member_id, (${actor} ->> 'agentId')::uuid as agent_id`;

const countSql = (isCounted: Part): Part => sql.part`count(*) filter (where ${isCounted})::int`;

/** The work that is counted. */
interface CountedWork {
  readonly caller: Caller;
  readonly projectId: string | undefined;
  /** The range of times at which the work began, in milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns CTEs that end in `judged`: each submission with what others decided about it until the next submission of
 * the same story. Executions that are not counted also submit, so they are read too. The planner expects few rows in
 * a CTE and would join two of them in a loop, so window functions replace such joins.
 */
function judgedSubmissionsSql({ caller, projectId, start, end }: CountedWork, since: Part): Part {
  const inProject =
    projectId === undefined ? sql.part`true` : sql.part`v.project_id = ${projectIdSql(projectId)}`;
  return sql.part`work as (
        select e.id, e.story_id, v.has_repository
        from (select v.project_id, ${hasRepositoryLinkedTo(sql.part`v.project_id`)} as has_repository
          from ${projectsVisibleTo(caller)} v where ${inProject}) v
        cross join lateral (select e.id, e.target_id as story_id from executions e
          where ${orgFilter('e')} and e.project_id = v.project_id and e.target_type = 'story'
            and e.id >= ${minUuidAt(start)}::uuid and e.id < ${minUuidAt(end)}::uuid
          order by e.id desc limit ${sql.literal(maxExecutions)}) e
        order by e.id desc limit ${sql.literal(maxExecutions)}),
      worked_stories as (
        select s.id, s.status = 'done' and not w.has_repository as lands_by_approval
        from (select story_id, bool_or(has_repository) as has_repository from work group by 1) w
        join stories s on ${orgFilter('s')} and s.id = w.story_id),
      events as (
        select e.id, e.project_id, e.target_id as story_id, e.merge_verified_at is not null as has_merge, s.lands_by_approval,
          e.is_counted, x.seq, x.kind, x.at, ${agentOf(
            sql.part`case when x.kind = 'expired' then x.data -> 'holder' else x.actor end`,
          )}
        from worked_stories s
        join lateral (select e.*, e.id in (select w.id from work w) as is_counted from executions e
          where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = s.id) e on true
        join execution_events x on ${orgFilter('x')} and x.execution_id = e.id and x.at >= e.created_at
        where x.kind = 'submitted' or e.is_counted and (x.kind in ('acquired', 'expired') or x.kind = 'forge'
          and x.data ->> 'kind' in ('changes_requested', 'pr_closed') and x.data ->> 'trust' = 'verified')),
      decisions as (
        select a.story_id, a.seq, a.at, a.member_id, a.agent_id, a.data ->> 'executionId' as execution_id,
          case a.kind when 'review.decided' then a.data ->> 'verdict' else a.kind end as kind
        from worked_stories s join activity a on ${orgFilter('a')} and a.story_id = s.id and a.at >= ${since}
        where a.kind in ('review.retracted', 'story.mergeReverted') or a.kind = 'review.decided' and a.data -> 'stale' is null),
      -- Each step gets the number of the submission before it.
      steps as (
        select q.*, count(*) filter (where q.kind = 'submitted')
          over (partition by q.story_id order by q.at, q.kind <> 'submitted', q.seq) as nth
        from (select e.* from events e where e.kind in ('submitted', 'forge')
          union all
          select null, null, d.story_id, null, null, null, d.seq, d.kind, d.at, d.member_id, d.agent_id from decisions d
          where d.kind <> 'story.mergeReverted'
          union all
          select null, null, g.story_id, null, null, null, 0, 'merged', x.merge_verified_at, null, null
          from executions x join delivery_groups d on ${orgFilter('d')} and d.id = x.target_id
          join delivery_group_stories g on ${orgFilter('g')} and g.group_id = d.id and (g.open or d.state = 'landed')
          where ${orgFilter('x')} and x.target_type = 'delivery_group' and x.merge_verified_at >= ${since}) q),
      reviewed as (
        select t.*, first_value(t.member_id) over (partition by t.story_id, t.nth order by t.kind <> 'submitted') as submitter_id,
          lead(t.kind) over (partition by t.story_id, t.nth, t.member_id, t.agent_id order by t.at, t.seq) as next
        from steps t where t.nth > 0),
      outcomes as (
        select r.*, bool_or(r.kind = 'merged') over submission as has_group_merge,
          bool_or(r.kind = 'forge' or r.kind = 'changes_requested' and r.next is distinct from 'review.retracted')
            over submission as is_sent_back,
          bool_or(r.kind = 'approved' and r.next is null and (r.agent_id is null or r.member_id <> r.submitter_id))
            over submission as is_approved
        from reviewed r window submission as (partition by r.story_id, r.nth)),
      judged as (
        select o.*, lead(o.nth) over (partition by o.story_id order by o.nth) is null as is_last,
          o.has_group_merge or o.has_merge and lead(o.nth) over execution is null as is_merged,
          lead(o.nth) over execution is null and o.id::text in (select d.execution_id from decisions d
            where d.kind = 'story.mergeReverted') as is_reverted
        from outcomes o where o.kind = 'submitted' window execution as (partition by o.id order by o.nth))`;
}

/** Returns CTEs that end in `keyed`, the outcome and the group of the work of an agent on a story, and its `costs`. */
const outcomesByGroupSql = (groupBy: AgentRecordGrouping, since: Part): Part => sql.part`worked as (
        select q.project_id, q.story_id, q.member_id, q.agent_id, (${since} at time zone 'UTC')::date as first_day,
          min(q.at) as began_at, bool_or(q.kind = 'acquired') as is_started, bool_or(q.kind = 'expired') as is_stalled,
          bool_or(q.kind = 'submitted') as is_submitted, bool_or(q.is_sent_back) as is_sent_back,
          bool_or(q.is_first) as is_first, bool_or(q.is_accepted) as is_accepted, bool_or(q.is_landed) as is_landed,
          bool_or(q.is_reverted) as is_reverted
        from (select e.project_id, e.story_id, e.member_id, e.agent_id, e.at, e.kind, e.is_counted, false as is_sent_back,
            false as is_first, false as is_accepted, false as is_landed, false as is_reverted
          from events e where e.kind in ('acquired', 'expired')
          union all
          select j.project_id, j.story_id, j.member_id, j.agent_id, j.at, j.kind, j.is_counted, j.is_sent_back, j.nth = 1,
            j.nth = 1 and not j.is_sent_back and (j.is_merged or j.is_approved),
            j.is_merged or j.is_last and j.is_approved and not j.is_sent_back and j.lands_by_approval, j.is_reverted
          from judged j) q
        where q.is_counted and q.agent_id is not null group by 1, 2, 3, 4),
      keyed as (select w.*, k.id collate "C" as id, k.name from worked w ${groupings[groupBy]}),
      costs as (
        select k.id, d.currency, ${exactSumSql(sql.part`sum(d.cost_micros)`)} as cost
        from keyed k cross join lateral ${usageOf(sql.part`k`)} d group by 1, 2)`;

/** Counts the work that began on the UTC days from `from` to `to`, in the projects that the caller may see. */
export async function readAgentRecords(
  db: Db,
  caller: Caller,
  { groupBy, projectId, from, to, limit, cursor }: ParamsOf<RecordOperation> & DayRange,
): Promise<ResultOf<RecordOperation>> {
  const work = { caller, projectId, start: dayStart(from), end: dayStart(to) + dayMillis };
  const since = sql.part`${new Date(work.start).toISOString()}::timestamptz`;
  const after = decodeCursor(cursor, Cursor);
  const isAfter =
    after === undefined
      ? sql.part`true`
      : sql.part`q.started < ${after[0]} or q.started = ${after[0]} and coalesce(q.id, '') > ${after[1]}`;
  const rows = await db.all(
    sql<RecordRow>`with ${judgedSubmissionsSql(work, since)},
      ${outcomesByGroupSql(groupBy, since)},
      counts as (
        select k.id, max(k.name) as name, ${countSql(sql.part`k.is_started`)} as started, ${countSql(sql.part`k.is_stalled`)} as stalled,
          ${countSql(sql.part`k.is_submitted`)} as submitted, ${countSql(sql.part`k.is_sent_back`)} as "sentBack",
          ${countSql(sql.part`k.is_first`)} as "submittedFirst", ${countSql(sql.part`k.is_accepted`)} as "acceptedFirst",
          ${countSql(sql.part`k.is_landed`)} as landed, ${countSql(sql.part`k.is_reverted`)} as reverted
        from keyed k group by k.id),
      page as (select q.* from counts q where ${isAfter} order by q.started desc, coalesce(q.id, '') limit ${limit + 1})
      select q.*, coalesce((select jsonb_agg(jsonb_build_object('currency', c.currency, 'costMicros', c.cost,
            'costPerLanded', round(c.cost::numeric / nullif(q.landed, 0))::bigint) order by c.cost desc, c.currency)
          from (select * from costs u where u.id is not distinct from q.id
            order by u.cost desc, u.currency limit ${sql.literal(maxCurrencies)}) c), '[]') as costs
      from page q order by q.started desc, coalesce(q.id, '')`,
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.started, row.id ?? ''],
    ({ id, name, ...counts }) => ({ key: { id, name }, ...counts }),
  );
}
