/** The section of a story's recent activity. */
import { type DB, of, sql } from '@muster/driver';
import { type Selectable } from 'kysely';
import { type Section, whole } from './scope.ts';

/** The number of entries that the contract promises. The activity operations list more. */
const mostRecent = 20;

type Row = Pick<
  Selectable<DB['activity']>,
  'id' | 'kind' | 'actor' | 'project_id' | 'subject' | 'data' | 'at'
>;

export const recentActivity: Section<'recentActivity'> = async ({ db, storyId }) => {
  const rows = await db.all(
    sql<Row>`select e.id, e.kind, e.actor, e.project_id, e.subject, e.data, e.at from activity e
       where ${of('e')} and e.story_id = ${storyId}
       order by e.seq desc limit ${sql.literal(mostRecent)}`,
  );
  return whole(rows.map(({ project_id: projectId, ...item }) => ({ ...item, projectId })));
};
