/** The board's facts about beginning work on a story `s`. Delivery knows who holds it. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { type Readiness, type StoryStatus } from '@muster/contract';
import { type ReadinessFacts } from '../rules/readiness.ts';
import { selectFirstColumnOfStatus } from './ranks.ts';
import { hasSpec } from './specs.ts';

export interface BoardFactsRow {
  readonly archived: boolean;
  readonly status: StoryStatus;
  readonly is_blocked: boolean;
  readonly has_open_children: boolean;
  readonly has_spec: boolean;
  readonly blockers: Readiness['openBlockers'] | null;
  readonly column_id: string | null;
  readonly wip_limit: number | null;
  readonly story_count: number | null;
}

export const boardFactsColumns: Part = sql.part`p.archived_at is not null as archived, s.status,
  exists (select from members u where ${orgFilter('u')} and u.id = (s.blocked ->> 'unblockerMemberId')::uuid
    and u.status = 'active') as is_blocked, ${hasSpec(sql.part`s`)} as has_spec,
  exists (select from stories h where ${orgFilter('h')} and h.parent_id = s.id and h.completed_at is null) as has_open_children,
  c.id as column_id, c.wip_limit, c.story_count,
  (select json_agg(json_build_object('id', o.id, 'key', p.key || '-' || o.number, 'title', o.title, 'status', o.status) order by o.id)
    from story_blockers b join stories o on ${orgFilter('o')} and o.id = b.blocker_id
    where ${orgFilter('b')} and b.story_id = s.id) as blockers`;

export const boardFactsTables: Part = sql.part`join projects p on ${orgFilter('p')} and p.id = s.project_id
  left join board_columns c on ${orgFilter('c')} and c.id = ${selectFirstColumnOfStatus(sql.part`s.project_id`, 'in_progress')}`;

export const toBoardFacts = (row: BoardFactsRow): Omit<ReadinessFacts, 'leaseHeld' | 'stopRequested'> => ({
  archived: row.archived,
  status: row.status,
  isBlocked: row.is_blocked,
  hasOpenChildren: row.has_open_children,
  hasSpec: row.has_spec,
  blockers: row.blockers ?? [],
  column: row.column_id === null ? null : { wipLimit: row.wip_limit, storyCount: row.story_count ?? 0 },
});
