/**
 * Counts how the work of agents on stories turned out. The counts rest on verdicts of others, merges that the forge
 * verified, reverts and expired leases, so no report of an agent can improve them. Models and costs are as reported.
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
import {
  type AgentRecord,
  type AgentRecordGrouping,
  type ParamsOf,
  type Registry,
  type ResultOf,
} from '@muster/registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { hasRepositoryLinkedTo, projectIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { type DayRange } from '../rules/day-range.ts';
import { exactSumSql } from './usage.ts';

type RecordOperation = Registry['agents']['record'];

/** The number of currencies whose costs are answered. */
const maxCurrencies = 5;

/** Selects the ids and names of the groups of the work `w` of an agent on a story. */
const groupings: Readonly<Record<AgentRecordGrouping, Part>> = {
  agent: sql.part`select a.id::text as id, a.name from agents a where ${orgFilter('a')} and a.id = w.agent_id`,
  // A run may use several models. The one with the highest cost did most of the work.
  model: sql.part`select m.model as id, coalesce(m.model, 'No model reported') as name from (select (
      select u.model from used u where u.story_id = w.story_id and u.member_id = w.member_id and u.agent_id = w.agent_id
      group by u.model order by sum(u.cost_micros) desc, sum(u.output_tokens) desc, u.model limit 1) as model) m`,
  prompt: sql.part`select p.id::text as id, p.slug || ' v' || p.version as name from prompts p
    where ${orgFilter('p')} and p.updated_at <= w.began_at
      and (p.project_id = w.project_id or p.project_id is null and not exists (select from prompts o
        where ${orgFilter('o')} and o.project_id = w.project_id and o.slug = p.slug and o.created_at <= w.began_at))`,
};

/** Returns the first id (UUID version 7) of a millisecond. */
function firstIdAt(millis: number): string {
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

/** The work that is counted. */
interface CountedWork {
  readonly caller: Caller;
  readonly projectId: string | undefined;
  /** The range of times at which the work began, in milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

/** Returns CTEs that end in `judged`: each submission with what others decided about it. */
function judgedSubmissionsSql({ caller, projectId, start, end }: CountedWork, since: Part): Part {
  const inProject =
    projectId === undefined ? sql.part`true` : sql.part`v.project_id = ${projectIdSql(projectId)}`;
  return sql.part`work as materialized (
        select e.id, e.project_id, e.target_id as story_id, e.merge_verified_at from ${projectsVisibleTo(caller)} v
        join executions e on ${orgFilter('e')} and e.project_id = v.project_id and e.target_type = 'story'
          and e.id >= ${firstIdAt(start)}::uuid and e.id < ${firstIdAt(end)}::uuid
        where ${inProject}),
      events as materialized (
        select w.id, w.project_id, w.story_id, x.seq, x.kind, x.at, ${agentOf(
          sql.part`case when x.kind = 'expired' then x.data -> 'holder' else x.actor end`,
        )}, x.data ->> 'kind' as fact
        from work w join execution_events x on ${orgFilter('x')} and x.execution_id = w.id and x.at >= ${since}
          and x.kind in ('acquired', 'expired', 'submitted', 'forge')),
      verdicts as materialized (
        select distinct w.story_id, a.seq, a.at, a.member_id, a.agent_id, a.data ->> 'verdict' as verdict
        from work w join activity a on ${orgFilter('a')} and a.story_id = w.story_id and a.at >= ${since}
          and a.kind = 'review.decided' and a.data -> 'stale' is null),
      -- Each submission lasts until the next one on the same story.
      submissions as materialized (
        select s.id, s.story_id, s.member_id, s.agent_id, s.at, row_number() over (partition by s.id order by s.seq) as nth,
          lead(s.at) over (partition by s.id order by s.seq) is null as is_last,
          coalesce(lead(s.at) over (partition by s.story_id order by s.at, s.seq), 'infinity') as until
        from events s where s.kind = 'submitted'),
      judged as materialized (
        select s.*, exists (select from verdicts v where v.story_id = s.story_id and v.verdict = 'changes_requested'
            and v.at >= s.at and v.at < s.until)
          or exists (select from events f where f.id = s.id and f.kind = 'forge' and f.fact in ('changes_requested', 'pr_closed')
            and f.at >= s.at and f.at < s.until) as is_sent_back,
          exists (select from verdicts v where v.story_id = s.story_id and v.verdict = 'approved' and v.at >= s.at
            and v.at < s.until and (v.agent_id is null or v.member_id <> s.member_id)) as is_approved,
          s.is_last and (w.merge_verified_at is not null or exists (select from delivery_group_stories g
            join executions x on ${orgFilter('x')} and x.target_type = 'delivery_group' and x.target_id = g.group_id
              and x.merge_verified_at is not null
            where ${orgFilter('g')} and g.story_id = s.story_id)) as is_merged,
          exists (select from activity a where ${orgFilter('a')} and a.story_id = s.story_id and a.at >= s.at
            and a.kind = 'story.mergeReverted' and a.data ->> 'executionId' = s.id::text) as is_reverted,
          ${hasRepositoryLinkedTo(sql.part`w.project_id`)} as has_repository
        from submissions s join work w on w.id = s.id)`;
}

/**
 * Returns CTEs that end in `facts`, the counts of each event, and `keyed`, the groups of the work of an agent on a
 * story, with their costs in `used`.
 */
const countedFactsSql = (groupBy: AgentRecordGrouping, since: Part): Part => sql.part`facts as materialized (
        select v.story_id, v.member_id, v.agent_id, (v.kind = 'acquired')::int as leases, (v.kind = 'expired')::int as stalls,
          0 as submitted, 0 as accepted, 0 as submissions, 0 as sent_back, 0 as landed, 0 as reverted
        from events v where v.kind in ('acquired', 'expired') and v.agent_id is not null
        union all
        select j.story_id, j.member_id, j.agent_id, 0, 0, (j.nth = 1)::int,
          (j.nth = 1 and not j.is_sent_back and (j.is_merged or j.is_approved))::int, 1, j.is_sent_back::int,
          (j.is_merged or j.is_last and j.is_approved and not j.is_sent_back and not j.has_repository)::int,
          (j.is_last and j.is_reverted)::int
        from judged j where j.agent_id is not null),
      worked as materialized (
        select v.project_id, v.story_id, v.member_id, v.agent_id, min(v.at) as began_at from events v
        where v.kind in ('acquired', 'submitted') and v.agent_id is not null group by 1, 2, 3, 4),
      used as materialized (
        select d.story_id, d.member_id, d.agent_id, d.model, d.currency, d.cost_micros, d.output_tokens
        from worked w join usage_days d on ${orgFilter('d')} and d.story_id = w.story_id and d.member_id = w.member_id
          and d.agent_id = w.agent_id and d.day >= (${since} at time zone 'UTC')::date),
      keyed as materialized (
        select w.story_id, w.member_id, w.agent_id, k.id collate "C" as id, k.name
        from worked w cross join lateral (${groupings[groupBy]}) k)`;

/** Counts the work that began on the UTC days from `from` to `to`, in the projects that the caller may see. */
export async function recordOfAgents(
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
      : sql.part`q.leases < ${after[0]} or q.leases = ${after[0]} and coalesce(q.id, '') > ${after[1]}`;
  const rows = await db.all(
    sql<RecordRow>`with ${judgedSubmissionsSql(work, since)},
      ${countedFactsSql(groupBy, since)},
      counts as (
        select k.id, max(k.name) as name, sum(f.leases)::int as leases, sum(f.stalls)::int as stalls,
          sum(f.submitted)::int as submitted, sum(f.accepted)::int as "acceptedFirst", sum(f.submissions)::int as submissions,
          sum(f.sent_back)::int as "changesRequested", sum(f.landed)::int as landed, sum(f.reverted)::int as reverted
        from keyed k join facts f using (story_id, member_id, agent_id) group by k.id),
      page as (select q.* from counts q where ${isAfter} order by q.leases desc, coalesce(q.id, '') limit ${limit + 1})
      select q.*, coalesce((select jsonb_agg(jsonb_build_object('currency', c.currency, 'costMicros', c.cost,
            'costPerLanded', round(c.cost::numeric / nullif(q.landed, 0))::bigint) order by c.cost desc, c.currency)
          from (select u.currency, ${exactSumSql(sql.part`sum(u.cost_micros)`)} as cost
            from keyed k join used u using (story_id, member_id, agent_id) where k.id is not distinct from q.id
            group by u.currency order by cost desc, u.currency limit ${sql.literal(maxCurrencies)}) c), '[]') as costs
      from page q order by q.leases desc, coalesce(q.id, '')`,
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.leases, row.id ?? ''],
    ({ id, name, ...counts }) => ({ key: { id, name }, ...counts }),
  );
}
