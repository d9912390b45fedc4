/** The counters of a project. Their row is the first that a transaction locks. */
import { type Db, type IdOrSql, orgFilter, type Query, sql } from '@muster/driver';

/**
 * Locks the counters of a story's project; with `storyCondition`, only if this condition on the story `s` is true.
 * Calls that cancel or reopen stories change the counters. Calls that change blockers lock them, so that the
 * second of two calls that would together close a cycle sees the first.
 */
export function lockProjectCounters(storyId: IdOrSql, storyCondition = sql.part`true`): Query<unknown> {
  return sql`select k.project_id from project_counters k where ${orgFilter('k')} and k.project_id =
      (select s.project_id from stories s where ${orgFilter('s')} and s.id = ${storyId} and ${storyCondition})
     for no key update`;
}

/** Takes the project's next story number. The row stays locked until commit, so that numbers have no gaps. */
export async function takeStoryNumber(
  db: Db,
  projectId: IdOrSql,
): Promise<{ project_id: string; project_key: string; number: number }> {
  const taken = await db.get(
    sql<{
      project_id: string;
      project_key: string;
      number: number;
    }>`update project_counters k set last_story_number = k.last_story_number + 1
       from projects p where ${orgFilter('p')} and p.id = ${projectId}
         and ${orgFilter('k')} and k.project_id = p.id
       returning k.project_id, p.key as project_key, k.last_story_number as number`,
  );
  return taken;
}
