/** Reads the parts of a card that are not in the story's own row: assignees, counts and work. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { contributorRank, maxCardCount, type StoryCard } from '@muster/contract';
import { toStoryKey, storySummaries, type StorySummaryRow } from './stories.ts';

/** A story's row with the columns that only cards show. */
export interface CardRow extends StorySummaryRow {
  readonly assignees: StoryCard['assignees'] | null;
  readonly counts: StoryCard['counts'];
  readonly children: StoryCard['children'];
  readonly execution: StoryCard['execution'];
  readonly agent_response: StoryCard['agentResponse'];
}

const selectCount = (rows: Part): Part =>
  sql.part`(select count(*)::int from (${rows} limit ${sql.literal(maxCardCount)}) n)`;

/** A join of execution `e` with its held lease. */
const heldLeaseJoin = sql.part`leases l on ${orgFilter('l')} and l.unit_type = 'story' and l.unit_id = e.target_id and l.state = 'held'`;

/** Selects the agent that a contributing member mentioned last on story `q` since its last completed work. */
const selectMentionedAgent = sql.part`
  select c.agent_mentions[1] from comments c
  join projects p on ${orgFilter('p')} and p.id = q.project_id
  join members m on ${orgFilter('m')} and m.id = c.author_member_id and m.status = 'active'
  where ${orgFilter('c')} and c.story_id = q.id and c.agent_mentions <> '{}' and c.author ->> 'agentId' is null
    and app.project_rank(p.org_id, p.id, p.visibility, m.id, m.role) >= ${sql.literal(contributorRank)}
    and not exists (select from executions x where ${orgFilter('x')} and x.target_type = 'story' and x.target_id = q.id
      and x.completed_at >= c.created_at)
  order by c.id desc limit 1`;

/**
 * The response of the agent that was asked to work on the unfinished story `q` with the assignment `a`; null while
 * others have the work.
 */
export const agentResponseSql = sql.part`case when q.status not in ('done', 'canceled') then (
  select jsonb_build_object('agent', jsonb_build_object('id', g.id, 'name', g.name), 'state', case
      when l.agent_id = g.id then 'picked_up'
      when i.listens_until is null or i.listens_until <= clock_timestamp() then 'no_runner'
      when exists (select from leases b where ${orgFilter('b')} and b.agent_id = g.id and b.state = 'held'
        and b.expires_at > clock_timestamp()) then 'busy'
      else 'listening' end)
  from agents g
  left join inbox_streams i on ${orgFilter('i')} and i.recipient_id = g.id
  left join executions e on ${orgFilter('e')} and e.target_type = 'story' and e.target_id = q.id and e.state <> 'completed'
  left join ${heldLeaseJoin}
  where ${orgFilter('g')} and g.retired_at is null and (e.id is null or e.state = 'available' or l.agent_id = g.id)
    and g.id = (select coalesce(a.agent_id, (${selectMentionedAgent})))) end`;

/** Joins story `q` with its assignment `a`. The limit keeps this a search by key for each story. */
export const joinAssignment = sql.part`left join lateral (select a.member_id, a.agent_id from assignments a
  where ${orgFilter('a')} and a.target_type = 'story' and a.target_id = q.id limit 1) a on true`;

/** Returns SQL that adds the columns of cards to the stories `q`, in the given order. */
export const selectWithCardColumns = (storiesQuery: Part, order: Part): Part => sql.part`
  select q.*,
    case when a.member_id is not null or a.agent_id is not null then (select jsonb_build_object(
        'member', case when m.id is not null then jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) end,
        'agent', case when g.id is not null then jsonb_build_object('id', g.id, 'name', g.name) end)
      from (select a.member_id, a.agent_id) t
      left join members m on ${orgFilter('m')} and m.id = t.member_id
      left join agents g on ${orgFilter('g')} and g.id = t.agent_id) end as assignees,
    jsonb_build_object(
      'openThreads', ${selectCount(sql.part`select from comments o where ${orgFilter('o')} and o.story_id = q.id
        and o.parent_id is null and o.resolved_at is null and o.deleted_at is null`)},
      'openBlockers', ${selectCount(sql.part`select from story_blockers b
        join stories o on ${orgFilter('o')} and o.id = b.blocker_id and o.status not in ('done', 'canceled')
        where ${orgFilter('b')} and b.story_id = q.id`)},
      'reviewers', ${selectCount(sql.part`select from story_reviewers r where ${orgFilter('r')} and r.story_id = q.id`)}) as counts,
    (select jsonb_build_object('total', count(*), 'done', count(*) filter (where n.status = 'done'))
      from (select o.status from stories o where ${orgFilter('o')} and o.parent_id = q.id and o.status <> 'canceled'
        limit ${sql.literal(maxCardCount)}) n
      having count(*) > 0) as children,
    (select jsonb_build_object('id', e.id,
        'state', app.shown_state(e.state, l.expires_at, (e.offer ->> 'expiresAt')::timestamptz, clock_timestamp()),
        'holder', l.holder,
        'expiresAt', to_char(l.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'progress', e.progress, 'needsRework', e.needs_rework)
      from executions e left join ${heldLeaseJoin} and e.state in ('leased', 'waiting_input')
      where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = q.id and e.state <> 'completed') as execution,
    ${agentResponseSql} as agent_response
  from (${storiesQuery}) q ${joinAssignment} order by ${order}`;

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
    counts: row.counts,
    children: row.children,
    execution: row.execution,
    agentResponse: row.agent_response,
    assignees: row.assignees ?? { member: null, agent: null },
  };
}
