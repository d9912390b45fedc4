/** Reads the parts of a card that are not in the story's own row: assignees, counts and work. */
import { currentOrgId, orgFilter, type Part, sql } from '@muster/driver';
import { maxCardCount, type StoryCard } from '@muster/contract';
import { toStoryKey, storySummaries, type StorySummaryRow } from './stories.ts';

/** A story's row with the columns that only cards show. */
export interface CardRow extends StorySummaryRow {
  readonly assignees: StoryCard['assignees'] | null;
  /** The counts are null if they are zero. */
  readonly open_threads: number | null;
  readonly open_blockers: number | null;
  readonly reviewers: number | null;
  readonly children: StoryCard['children'];
  readonly execution: StoryCard['execution'];
  readonly agent_response: StoryCard['agentResponse'];
}

/**
 * The maximum number of rows of one kind that a page of cards reads for all its stories together. Above it, the
 * rows are read for each story, and no more than a card shows.
 */
const maxRowsOfPage = 2_000;

const maxCountSql = sql.literal(maxCardCount);

/** The condition that a column is the ID of a story on the page. */
const isOnPage = (column: Part): Part => sql.part`${column} = any ((select d.ids from ids d)::uuid[])`;

/**
 * Returns SQL for a JSON object with a value for each story of the page that has rows. `rowsOf` selects the rows
 * `r` of stories, with the column `story_id`, and `value` aggregates those of one story. One scan for all stories
 * costs a fraction of one for each story.
 */
function selectByStory(rowsOf: (isOfStory: (column: Part) => Part) => Part, value: Part): Part {
  const limit = sql.literal(maxRowsOfPage);
  return sql.part`(select case when sum(t.n) > ${limit} then (
      select jsonb_object_agg(i.id, v.value) from unnest((select d.ids from ids d)) i (id)
        cross join lateral (select ${value} as value from (${rowsOf((column) => sql.part`${column} = i.id`)}
          limit ${maxCountSql}) r having count(*) > 0) v)
      else jsonb_object_agg(t.story_id, t.value) end
    from (select r.story_id, count(*) as n, ${value} as value from (${rowsOf(isOnPage)} limit ${limit} + 1) r
      group by r.story_id) t)`;
}

const countSql = sql.part`least(count(*), ${maxCountSql})`;

/** The stories of the page with an agent that may have been asked to work on them. */
const selectAskedStories = sql.part`(
  select case when (select count(*) from mentions) > ${sql.literal(maxRowsOfPage)} then (select d.ids from ids d)
    else array(select n.story_id from mentions n
      union all select a.target_id from assigned a where a.agent_id is not null) end)`;

/** Identifies the member and the agent of an assignment `a`. Their names are read once for all their stories. */
const assigneesKey = sql.part`concat_ws(' ', a.member_id, a.agent_id)`;

const storyKey = sql.part`q.id::text`;

/** Returns SQL that adds the columns of cards to the stories `q`, in the given order. */
export const selectWithCardColumns = (storiesQuery: Part, order: Part): Part => sql.part`
  with page as materialized (${storiesQuery}),
  ids as materialized (select array_agg(p.id) as ids from page p),
  mentions as materialized (select c.story_id from comments c
    where ${orgFilter('c')} and ${isOnPage(sql.part`c.story_id`)} and c.agent_mentions <> '{}'
    limit ${sql.literal(maxRowsOfPage)} + 1),
  assigned as materialized (select a.target_id, a.member_id, a.agent_id from assignments a
    where ${orgFilter('a')} and a.target_type = 'story' and ${isOnPage(sql.part`a.target_id`)}),
  found as materialized (select
    ${selectAskedStories} as asked,
    (select jsonb_object_agg(a.target_id, ${assigneesKey}) from assigned a) as assigned,
    (select jsonb_object_agg(${assigneesKey}, jsonb_build_object(
        'member', case when m.id is not null then jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) end,
        'agent', case when g.id is not null then jsonb_build_object('id', g.id, 'name', g.name) end))
      from (select distinct a.member_id, a.agent_id from assigned a) a
      left join lateral (select m.id, m.name, m.handle from members m
        where ${orgFilter('m')} and m.id = a.member_id limit 1) m on true
      left join lateral (select g.id, g.name from agents g
        where ${orgFilter('g')} and g.id = a.agent_id limit 1) g on true) as assignees,
    ${selectByStory(
      (
        isOfStory,
      ) => sql.part`select o.story_id from comments o where ${orgFilter('o')} and ${isOfStory(sql.part`o.story_id`)}
        and o.parent_id is null and o.resolved_at is null and o.deleted_at is null`,
      countSql,
    )} as open_threads,
    ${selectByStory(
      (isOfStory) => sql.part`select b.story_id from story_blockers b
        join stories o on ${orgFilter('o')} and o.id = b.blocker_id and o.status not in ('done', 'canceled')
        where ${orgFilter('b')} and ${isOfStory(sql.part`b.story_id`)}`,
      countSql,
    )} as open_blockers,
    ${selectByStory(
      (isOfStory) =>
        sql.part`select r.story_id from story_reviewers r where ${orgFilter('r')} and ${isOfStory(sql.part`r.story_id`)}`,
      countSql,
    )} as reviewers,
    ${selectByStory(
      (isOfStory) => sql.part`select o.parent_id as story_id, o.status from stories o
        where ${orgFilter('o')} and ${isOfStory(sql.part`o.parent_id`)} and o.status <> 'canceled'`,
      sql.part`jsonb_build_object('total', ${countSql},
        'done', least(count(*) filter (where r.status = 'done'), ${maxCountSql}))`,
    )} as children,
    (select jsonb_object_agg(e.target_id, jsonb_build_object('id', e.id,
        'state', app.shown_state(e.state, l.expires_at, (e.offer ->> 'expiresAt')::timestamptz, clock_timestamp()),
        'holder', l.holder,
        'expiresAt', to_char(l.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'progress', e.progress, 'needsRework', e.needs_rework))
      from executions e left join lateral (select l.holder, l.expires_at from leases l
        where ${orgFilter('l')} and l.unit_type = 'story' and l.unit_id = e.target_id and l.state = 'held'
          and e.state in ('leased', 'waiting_input') limit 1) l on true
      where ${orgFilter('e')} and e.target_type = 'story' and ${isOnPage(sql.part`e.target_id`)}
        and e.state <> 'completed') as executions)
  select q.*, f.assignees -> (f.assigned ->> ${storyKey}) as assignees,
    (f.open_threads -> ${storyKey})::int as open_threads, (f.open_blockers -> ${storyKey})::int as open_blockers,
    (f.reviewers -> ${storyKey})::int as reviewers,
    f.children -> ${storyKey} as children, f.executions -> ${storyKey} as execution,
    n.responses -> ${storyKey} as agent_response
  from page q cross join found f
  cross join (select jsonb_object_agg(r.story_id, r.response) as responses
    from found f cross join app.agent_responses(${currentOrgId}, f.asked) r) n order by ${order}`;

export function toCard(row: CardRow): StoryCard {
  const {
    id,
    title,
    rank,
    columnId,
    status,
    priority,
    labels,
    estimate,
    epicId,
    parentId,
    dueDate,
    blocked,
    updatedAt,
    version,
  } = storySummaries.shown(row);
  return {
    id,
    key: toStoryKey(row),
    title,
    rank,
    columnId,
    status,
    priority,
    labels,
    estimate,
    epicId,
    parentId,
    dueDate,
    blocked,
    updatedAt,
    version,
    counts: {
      openThreads: row.open_threads ?? 0,
      openBlockers: row.open_blockers ?? 0,
      reviewers: row.reviewers ?? 0,
    },
    children: row.children,
    execution: row.execution,
    agentResponse: row.agent_response,
    assignees: row.assignees ?? { member: null, agent: null },
  };
}
