/** Counts stories for transactions that write many of them, instead of the triggers. */
import { orgFilter, type Query, type RowOf, sql } from '@muster/driver';
import { stories } from './stories.ts';

/**
 * Stops the triggers that count stories until they are enabled or the transaction ends. The caller writes the counts of
 * columns, epics and canceled stories itself. The triggers would take quadratic time for n stories of one
 * column (see the trigger).
 */
export const disableStoryCountTriggers = (): Query<unknown> =>
  sql`select set_config('muster.counts', 'by hand', true)`;

const enableStoryCountTriggers = (): Query<unknown> => sql`select set_config('muster.counts', '', true)`;

type NewStory = RowOf<typeof stories>;

/**
 * Inserts many stories, and adds them to the counts of their columns and epics and to the canceled stories of
 * the project. The caller holds the locks of the project's counters and columns, and has not stopped the triggers.
 */
export function insertAndCountStories(projectId: string, rows: readonly NewStory[]): Query<unknown>[] {
  if (rows.length === 0) return [];
  const columns = Map.groupBy(
    rows.filter(({ column_id: columnId }) => columnId !== null),
    ({ column_id: columnId }) => columnId,
  );
  const epics = Map.groupBy(
    rows.filter(({ status, epic_id: epicId }) => epicId !== null && status !== 'canceled'),
    ({ epic_id: epicId }) => epicId,
  );
  const canceled = rows.filter(({ status }) => status === 'canceled').length;
  const epicIds = [...epics.keys()];
  const storiesOfEpics = [...epics.values()];
  const queries = [disableStoryCountTriggers(), ...stories.insertAll(rows), enableStoryCountTriggers()];
  if (canceled > 0)
    queries.push(
      sql`update project_counters set canceled_stories = canceled_stories + ${canceled}
         where ${orgFilter()} and project_id = ${projectId}`,
    );
  if (columns.size > 0)
    queries.push(
      sql`update board_columns c set story_count = c.story_count + n.stories
         from unnest(${[...columns.keys()]}::uuid[], ${[...columns.values()].map(({ length }) => length)}::int[]) n (id, stories)
         where ${orgFilter('c')} and c.id = n.id`,
    );
  if (epicIds.length > 0)
    queries.push(
      sql`select e.id from epics e where ${orgFilter('e')} and e.id = any (${epicIds}::uuid[])
         order by e.id for no key update`,
      sql`update epics e set story_count = e.story_count + n.stories, done_count = e.done_count + n.done
         from unnest(${epicIds}::uuid[], ${storiesOfEpics.map(({ length }) => length)}::int[],
           ${storiesOfEpics.map((own) => own.filter(({ status }) => status === 'done').length)}::int[]) n (id, stories, done)
         where ${orgFilter('e')} and e.id = n.id`,
    );
  return queries;
}
