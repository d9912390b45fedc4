/** What is counted per project. Its row is the first that a transaction locks. */
import { type Db, type Id, of, type Query, sql } from '@muster/driver';

/**
 * Locks the counters of a story's project; with `onlyIf`, a condition on the story `s`, only where it holds. Who
 * cancels or reopens changes them. Who changes blockers holds them, so that of two calls that together close a
 * circle the second sees the first.
 */
export function lockCounters(storyId: Id, onlyIf = sql.part`true`): Query<unknown> {
  return sql`select k.project_id from project_counters k where ${of('k')} and k.project_id =
      (select s.project_id from stories s where ${of('s')} and s.id = ${storyId} and ${onlyIf})
     for no key update`;
}

/** Takes the project's next story number; the row stays locked until commit, so that numbers have no gaps. */
export async function takeStoryNumber(
  db: Db,
  projectId: Id,
): Promise<{ project_id: string; project_key: string; number: number }> {
  const taken = await db.get(
    sql<{
      project_id: string;
      project_key: string;
      number: number;
    }>`update project_counters k set last_story_number = k.last_story_number + 1
       from projects p where ${of('p')} and p.id = ${projectId}
         and ${of('k')} and k.project_id = p.id
       returning k.project_id, p.key as project_key, k.last_story_number as number`,
  );
  return taken;
}
