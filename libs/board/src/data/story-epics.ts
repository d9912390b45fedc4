/** Locks the epics that a story leaves and enters. */
import { type Db, type Id, of, sql } from '@muster/driver';

interface EpicOfStory {
  readonly id: string;
  readonly project_id: string;
}

export const findEpic = (db: Db, epicId: string): Promise<EpicOfStory | undefined> =>
  db.find(sql<EpicOfStory>`select id, project_id from epics where ${of()} and id = ${epicId}`);

/**
 * Locks the story's current epic and its new one, ordered by ID. Both count their stories, and two stories
 * that swap epics must not deadlock.
 */
export function lockEpicsOf(db: Db, storyId: Id, epicId: string | null): Promise<EpicOfStory[]> {
  const left = sql.part`(select s.epic_id from stories s where ${of('s')} and s.id = ${storyId})`;
  return db.all(
    sql<EpicOfStory>`select e.id, e.project_id from epics e where ${of('e')}
       and e.id = any (array[${left}, ${epicId}::uuid]) order by e.id for no key update`,
  );
}
