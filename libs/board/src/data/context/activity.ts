/** The section of a story's recent activity. */
import { type DB, orgFilter, sql } from '@muster/driver';
import { type Selectable } from 'kysely';
import { type SectionReader, toCompleteSection } from './scope.ts';

/** The number of entries that the contract promises. The activity operations list more. */
const maxActivityEntries = 20;

type RecentActivityRow = Pick<
  Selectable<DB['activity']>,
  'id' | 'kind' | 'actor' | 'project_id' | 'subject' | 'data' | 'at'
>;

export const readRecentActivity: SectionReader<'recentActivity'> = async ({ db, storyId }) => {
  const rows = await db.all(
    sql<RecentActivityRow>`select e.id, e.kind, e.actor, e.project_id, e.subject, e.data, e.at from activity e
       where ${orgFilter('e')} and e.story_id = ${storyId}
       order by e.seq desc limit ${sql.literal(maxActivityEntries)}`,
  );
  return toCompleteSection(rows.map(({ project_id: projectId, ...item }) => ({ ...item, projectId })));
};
