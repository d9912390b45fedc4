/** Reads and moves all stories of a column. */
import { type Db, orgFilter, type Query, sql } from '@muster/driver';
import { type ColumnStatus } from '@muster/contract';
import { isFinished } from '../rules/workflow.ts';
import { hasSpec } from './specs.ts';
import { type StoryRow } from './stories.ts';

/** The columns of a story needed to move it. */
export type ColumnStory = Pick<
  StoryRow,
  'id' | 'project_id' | 'project_key' | 'number' | 'title' | 'rank' | 'spec_version' | 'code' | 'completed_at'
> & { readonly has_spec: boolean };

/** Locks all stories of a locked column, and returns them from top to bottom. */
export async function lockStoriesInColumn(db: Db, columnId: string): Promise<ColumnStory[]> {
  const stories = await db.all(
    sql<ColumnStory>`select s.id, s.project_id, p.key as project_key, s.number, s.title, s.rank, s.spec_version, s.code,
         s.completed_at, ${hasSpec(sql.part`s`)} as has_spec
       from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
       where ${orgFilter('s')} and s.column_id = ${columnId}
         and s.project_id = (select c.project_id from board_columns c where ${orgFilter('c')} and c.id = ${columnId})
       order by s.id for no key update of s`,
  );
  return stories.sort((one, other) => (one.rank < other.rank ? -1 : 1));
}

/** Finds the rank of the last story of a locked column. */
export async function findLastRankInColumn(db: Db, columnId: string): Promise<string | null> {
  const last = await db.find(
    sql<{ rank: string }>`select s.rank from stories s
       where ${orgFilter('s')} and s.column_id = ${columnId}
         and s.project_id = (select c.project_id from board_columns c where ${orgFilter('c')} and c.id = ${columnId})
       order by s.rank desc limit 1`,
  );
  return last?.rank ?? null;
}

/** The number of stories per statement, which keeps each far below the statement timeout. */
const maxStoriesPerStatement = 2_000;

/**
 * Moves locked stories to another column, at these ranks and with its status. Sets or clears their completion
 * time as a single move does. The caller updates the counts.
 */
export async function moveStories(
  db: Db,
  column: { readonly id: string; readonly status: ColumnStatus },
  storyIds: readonly string[],
  ranks: readonly string[],
  movedAt: string,
): Promise<void> {
  // Each batch takes its own round trip, because statements that are sent together share one timeout.
  for (let from = 0; from < storyIds.length; from += maxStoriesPerStatement) {
    const to = from + maxStoriesPerStatement;
    await db.all(
      sql`update stories s set column_id = ${column.id}, rank = m.rank, status = ${column.status}, updated_at = ${movedAt}, version = s.version + 1,
           completed_at = case when ${isFinished(column.status)}::boolean then coalesce(s.completed_at, ${movedAt}) end
         from unnest(${storyIds.slice(from, to)}::uuid[], ${ranks.slice(from, to)}::text[]) m (id, rank) where ${orgFilter('s')} and s.id = m.id`,
    );
  }
}

/**
 * Adds these stories to the done counts of their epics, or subtracts them with -1. Locks the epics in the
 * order of their IDs.
 */
export const addToDoneCounts = (
  projectId: string,
  storyIds: readonly string[],
  countPerStory: number,
): Query<unknown> =>
  sql`with n as (select s.epic_id, count(*)::int as stories from stories s
       where ${orgFilter('s')} and s.project_id = ${projectId} and s.id = any (${storyIds}::uuid[]) and s.epic_id is not null group by 1),
     l as (select e.id from epics e where ${orgFilter('e')} and e.id in (select n.epic_id from n) order by e.id for no key update)
     update epics e set done_count = e.done_count + ${countPerStory} * n.stories from n, l
     where ${orgFilter('e')} and e.id = n.epic_id and l.id = e.id`;
