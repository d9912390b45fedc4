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

/** Counts the stories by a key; stories without the key are left out. */
function countBy(rows: readonly NewStory[], keyOf: (row: NewStory) => string | null): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/**
 * Inserts many stories, and adds them to the counts of their columns and epics and to the canceled stories of
 * the project. The caller holds the locks of the project's counters and columns.
 */
export function insertAndCountStories(projectId: string, rows: readonly NewStory[]): Query<unknown>[] {
  if (rows.length === 0) return [];
  const columns = countBy(rows, ({ column_id: columnId }) => columnId);
  const ofEpics = countBy(rows, ({ status, epic_id: epicId }) => (status === 'canceled' ? null : epicId));
  const doneOfEpics = countBy(rows, ({ status, epic_id: epicId }) => (status === 'done' ? epicId : null));
  const canceled = rows.filter(({ status }) => status === 'canceled').length;
  const epicIds = [...ofEpics.keys()];
  const queries = [disableStoryCountTriggers(), ...stories.insertAll(rows), enableStoryCountTriggers()];
  if (canceled > 0)
    queries.push(
      sql`update project_counters set canceled_stories = canceled_stories + ${canceled}
         where ${orgFilter()} and project_id = ${projectId}`,
    );
  if (columns.size > 0)
    queries.push(
      sql`update board_columns c set story_count = c.story_count + n.stories
         from unnest(${[...columns.keys()]}::uuid[], ${[...columns.values()]}::int[]) n (id, stories)
         where ${orgFilter('c')} and c.id = n.id`,
    );
  if (epicIds.length > 0)
    queries.push(
      sql`select e.id from epics e where ${orgFilter('e')} and e.id = any (${epicIds}::uuid[])
         order by e.id for no key update`,
      sql`update epics e set story_count = e.story_count + n.stories, done_count = e.done_count + n.done
         from unnest(${epicIds}::uuid[], ${[...ofEpics.values()]}::int[],
           ${epicIds.map((id) => doneOfEpics.get(id) ?? 0)}::int[]) n (id, stories, done)
         where ${orgFilter('e')} and e.id = n.id`,
    );
  return queries;
}
