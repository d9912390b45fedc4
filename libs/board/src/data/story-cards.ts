/** Reads the parts of a card that are not in the story's own row: assignees, counts and work. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { maxCardCount, type StoryCard } from '@muster/registry';
import { toStoryKey, storySummaries, type StorySummaryRow } from './stories.ts';

/** A story's row with the columns that only cards show. */
export interface CardRow extends StorySummaryRow {
  readonly assignees: StoryCard['assignees'] | null;
  readonly counts: StoryCard['counts'];
  readonly execution: StoryCard['execution'];
}

const selectCount = (rows: Part): Part =>
  sql.part`(select count(*)::int from (${rows} limit ${sql.literal(maxCardCount)}) n)`;

/** A join of execution `e` with its held lease. */
const heldLeaseJoin = sql.part`leases l on ${orgFilter('l')} and l.unit_type = 'story' and l.unit_id = e.target_id and l.state = 'held'`;

/** Returns SQL that adds the columns of cards to the stories `q`, in the given order. */
export const selectWithCardColumns = (storiesQuery: Part, order: Part): Part => sql.part`
  select q.*,
    (select jsonb_build_object(
        'member', case when m.id is not null then jsonb_build_object('id', m.id, 'name', m.name, 'handle', m.handle) end,
        'agent', case when g.id is not null then jsonb_build_object('id', g.id, 'name', g.name) end)
      from assignments a
      left join members m on ${orgFilter('m')} and m.id = a.member_id
      left join agents g on ${orgFilter('g')} and g.id = a.agent_id
      where ${orgFilter('a')} and a.target_type = 'story' and a.target_id = q.id) as assignees,
    jsonb_build_object(
      'openThreads', ${selectCount(sql.part`select from comments o where ${orgFilter('o')} and o.story_id = q.id
        and o.parent_id is null and o.resolved_at is null and o.deleted_at is null`)},
      'openBlockers', ${selectCount(sql.part`select from story_blockers b
        join stories o on ${orgFilter('o')} and o.id = b.blocker_id and o.status not in ('done', 'canceled')
        where ${orgFilter('b')} and b.story_id = q.id`)},
      'reviewers', ${selectCount(sql.part`select from story_reviewers r where ${orgFilter('r')} and r.story_id = q.id`)}) as counts,
    (select jsonb_build_object('id', e.id,
        'state', app.shown_state(e.state, l.expires_at, (e.offer ->> 'expiresAt')::timestamptz, clock_timestamp()),
        'holder', l.holder,
        'expiresAt', to_char(l.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'progress', e.progress, 'needsRework', e.needs_rework)
      from executions e left join ${heldLeaseJoin} and e.state in ('leased', 'waiting_input')
      where ${orgFilter('e')} and e.target_type = 'story' and e.target_id = q.id and e.state <> 'completed') as execution
  from (${storiesQuery}) q order by ${order}`;

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
    blocked,
    updatedAt,
    version,
  } = storySummaries.shown(row);
  return {
    ...{
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
      blocked,
    },
    ...{ updatedAt, version, counts: row.counts, execution: row.execution },
    assignees: row.assignees ?? { member: null, agent: null },
  };
}
