/** The few columns of a story that events need, read without its texts, its blockers and its lock. */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';
import { type Caller, projectsVisibleTo } from '@muster/runtime';
import { type StoryRow } from './stories.ts';

export type StoryForEvents = Pick<
  StoryRow,
  'id' | 'project_id' | 'project_key' | 'number' | 'title' | 'spec_version'
>;

export function getStoryForEvents(db: Db, id: IdOrSql): Promise<StoryForEvents> {
  return db.get(
    sql<StoryForEvents>`select s.id, s.project_id, s.number, s.title, s.spec_version, p.key as project_key
       from stories s join projects p on p.org_id = s.org_id and p.id = s.project_id
       where ${orgFilter('s')} and s.id = ${id}`,
  );
}

/** Reports whether the caller may see the project of a story other than the call's target. */
export async function canSeeStory(db: Db, caller: Caller, storyId: string): Promise<boolean> {
  const found = await db.find(
    sql`select s.id from stories s join ${projectsVisibleTo(caller)} v on v.project_id = s.project_id
       where ${orgFilter('s')} and s.id = ${storyId}::uuid`,
  );
  return found !== undefined;
}
