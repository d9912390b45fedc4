/** What is counted per project. Its row is the first that a transaction locks. */
import { type Db, type Query, sqlQuery, Values } from '@muster/database';
import { notFound } from '@muster/runtime';

/**
 * Locks the counters of a story's project; with `onlyIf`, a condition on the story `s`, only where it holds. Who
 * cancels or reopens changes them. Who changes blockers holds them, so that of two calls that together close a
 * circle the second sees the first.
 */
export function lockCounters(orgId: string, storyRef: string, onlyIf = 'true'): Query<unknown> {
  const values = new Values(orgId);
  return sqlQuery(
    `select k.project_id from project_counters k where k.org_id = ${values.org} and k.project_id =
      (select s.project_id from stories s where s.org_id = ${values.org} and s.id = ${values.storyId(storyRef)} and ${onlyIf})
     for no key update`,
    values.list,
  );
}

/** Takes the project's next story number; the row stays locked until commit, so that numbers have no gaps. */
export async function takeStoryNumber(
  db: Db,
  orgId: string,
  projectRef: string,
): Promise<{ project_id: string; project_key: string; number: number }> {
  const values = new Values(orgId);
  const project = values.projectId(projectRef);
  const taken = await db.find(
    sqlQuery<{ project_id: string; project_key: string; number: number }>(
      `update project_counters k set last_story_number = k.last_story_number + 1
       from projects p where p.org_id = ${values.org} and p.id = ${project}
         and k.org_id = ${values.org} and k.project_id = p.id
       returning k.project_id, p.key as project_key, k.last_story_number as number`,
      values.list,
    ),
  );
  if (taken === undefined) throw notFound();
  return taken;
}
