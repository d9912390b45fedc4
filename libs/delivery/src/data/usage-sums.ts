/** Sums of what runs used, by project, epic, story, agent, member, model, day or week. */
import { CursorText, type Db, decodeCursor, orgFilter, pageOfRows, type Part, sql } from '@muster/driver';
import { type ParamsOf, type ResultOf, type UsageGrouping, type UsageSum } from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { hasRepositoryLinkedTo, noAgentId, projectIdSql, storyIdSql } from '@muster/tenancy';
import { z } from 'zod';
import { exactSumSql } from './usage.ts';

interface Grouping {
  readonly id: Part;
  readonly name: Part;
  readonly tables?: Part;
  /** The first day of the group. Groups without it are ordered by their costs. */
  readonly day?: Part;
}

const storyJoinSql = sql.part`left join stories s on ${orgFilter('s')} and s.id = d.story_id`;

const weekStartSql = sql.part`date_trunc('week', d.day)::date`;

/** The id and the name of the group that usage `d` belongs to. The id is null for usage without such a record. */
const groupings: Readonly<Record<UsageGrouping, Grouping>> = {
  project: {
    id: sql.part`d.project_id`,
    name: sql.part`p.name`,
    tables: sql.part`join projects p on ${orgFilter('p')} and p.id = d.project_id`,
  },
  epic: {
    id: sql.part`e.id`,
    name: sql.part`coalesce(e.title, 'No epic')`,
    tables: sql.part`${storyJoinSql} left join epics e on ${orgFilter('e')} and e.id = s.epic_id`,
  },
  story: {
    id: sql.part`nullif(d.story_id, ${noAgentId}::uuid)`,
    name: sql.part`case when d.story_id = ${noAgentId}::uuid then 'No story'
      else coalesce(p.key || '-' || s.number || ' ' || s.title, 'Deleted story') end`,
    tables: sql.part`join projects p on ${orgFilter('p')} and p.id = d.project_id ${storyJoinSql}`,
  },
  agent: {
    id: sql.part`nullif(d.agent_id, ${noAgentId}::uuid)`,
    name: sql.part`coalesce(a.name, 'No agent')`,
    tables: sql.part`left join agents a on ${orgFilter('a')} and a.id = d.agent_id`,
  },
  member: {
    id: sql.part`d.member_id`,
    name: sql.part`coalesce(m.name, 'Former member')`,
    tables: sql.part`left join members m on ${orgFilter('m')} and m.id = d.member_id`,
  },
  model: { id: sql.part`d.model`, name: sql.part`d.model` },
  day: { id: sql.part`d.day`, name: sql.part`d.day::text`, day: sql.part`d.day` },
  week: { id: weekStartSql, name: sql.part`(${weekStartSql})::text`, day: weekStartSql },
};

/**
 * The stories of the usage `u` that are done. If the forge reports on their project, their work must be merged
 * too, so no report of an agent is sufficient.
 */
const landedSql = sql.part`landed as materialized (select s.id from (select distinct u.story_id from used u) n
  join stories s on ${orgFilter('s')} and s.id = n.story_id and s.status = 'done'
  where not ${hasRepositoryLinkedTo(sql.part`s.project_id`)}
    or exists (select from executions x where ${orgFilter('x')} and x.target_type = 'story' and x.target_id = s.id
      and x.merge_verified_at is not null)
    or exists (select from delivery_group_stories g join executions x on ${orgFilter('x')}
        and x.target_type = 'delivery_group' and x.target_id = g.group_id and x.merge_verified_at is not null
      where ${orgFilter('g')} and g.story_id = s.id))`;

const Cursor = z.tuple([z.int().min(0), CursorText, CursorText]);

interface SumRow extends Omit<UsageSum, 'key'> {
  readonly id: string | null;
  readonly name: string;
  readonly position: number;
}

type SummaryParams = ParamsOf<DeliveryRegistry['usage']['summary']>;

/** Sums the usage in the projects that the caller may see, on the UTC days from `from` to `to`. */
export async function sumUsage(
  db: Db,
  caller: Caller,
  {
    groupBy,
    projectId,
    storyId,
    agentId,
    from,
    to,
    limit,
    cursor,
  }: SummaryParams & { readonly from: string; readonly to: string },
): Promise<ResultOf<DeliveryRegistry['usage']['summary']>> {
  const { id, name, day, tables = sql.empty } = groupings[groupBy];
  const position =
    day === undefined ? exactSumSql(sql.part`sum(d.cost_micros)`) : sql.part`max(${day}) - date '1970-01-01'`;
  const after = decodeCursor(cursor, Cursor);
  const filters = [
    sql.part`d.day between (${from}::timestamptz at time zone 'UTC')::date and (${to}::timestamptz at time zone 'UTC')::date`,
  ];
  if (projectId !== undefined) filters.push(sql.part`d.project_id = ${projectIdSql(projectId)}`);
  if (storyId !== undefined) filters.push(sql.part`d.story_id = ${storyIdSql(storyId)}`);
  if (agentId !== undefined) filters.push(sql.part`d.agent_id = ${agentId}::uuid`);
  const isAfter =
    after === undefined
      ? sql.part`true`
      : sql.part`q.position < ${after[0]} or q.position = ${after[0]}
          and (coalesce(q.id, ''), q.currency) > (${after[1]}, ${after[2]})`;
  const rows = await db.all(
    sql<SumRow>`with used as materialized (
        select d.* from ${projectsVisibleTo(caller)} v
        join usage_days d on ${orgFilter('d')} and d.project_id = v.project_id
        where ${sql.join(filters, ' and ')}),
      ${landedSql},
      sums as (
        select (${id})::text collate "C" as id, max(${name}) as name, d.currency,
          count(distinct (d.project_id, d.member_id, d.agent_id, d.run_id))::int as runs,
          ${exactSumSql(sql.part`sum(d.input_tokens)`)} as "inputTokens", ${exactSumSql(sql.part`sum(d.output_tokens)`)} as "outputTokens",
          ${exactSumSql(sql.part`sum(d.cached_tokens)`)} as "cachedTokens", ${exactSumSql(sql.part`sum(d.cost_micros)`)} as "costMicros",
          count(distinct l.id)::int as landed, ${position} as position
        from used d left join landed l on l.id = d.story_id ${tables}
        group by 1, d.currency)
      select q.*, round(q."costMicros"::numeric / nullif(q.landed, 0))::bigint as "costPerLanded" from sums q
      where ${isAfter}
      order by q.position desc, coalesce(q.id, ''), q.currency limit ${limit + 1}`,
  );
  return pageOfRows(
    rows,
    limit,
    (row) => [row.position, row.id ?? '', row.currency],
    ({ id: key, name: label, position: _, ...sum }) => ({ key: { id: key, name: label }, ...sum }),
  );
}
