/** Locks the epics that a story leaves and enters. */
import { type Db, type IdOrSql, orgFilter, sql } from '@muster/driver';

interface EpicInProject {
  readonly id: string;
  readonly project_id: string;
}

export const findEpic = (db: Db, epicId: string): Promise<EpicInProject | undefined> =>
  db.find(sql<EpicInProject>`select id, project_id from epics where ${orgFilter()} and id = ${epicId}`);

/**
 * Locks the story's current epic and its new one, ordered by ID. Both count their stories, and two stories
 * that swap epics must not deadlock.
 */
export function lockCurrentAndNewEpic(
  db: Db,
  storyId: IdOrSql,
  epicId: string | null,
): Promise<EpicInProject[]> {
  const left = sql.part`(select s.epic_id from stories s where ${orgFilter('s')} and s.id = ${storyId})`;
  return db.all(
    sql<EpicInProject>`select e.id, e.project_id from epics e where ${orgFilter('e')}
       and e.id = any (array[${left}, ${epicId}::uuid]) order by e.id for no key update`,
  );
}
