/** The epics that a story leaves and enters. */
import { type Db, sqlQuery, Values } from '@muster/database';

interface EpicOfStory {
  readonly id: string;
  readonly project_id: string;
}

export const findEpic = (db: Db, orgId: string, epicId: string): Promise<EpicOfStory | undefined> =>
  db.find(
    sqlQuery<EpicOfStory>('select id, project_id from epics where org_id = $1 and id = $2', [orgId, epicId]),
  );

/**
 * Locks the epic that the story is in and the one it goes to, by id: both count their stories, and two stories that
 * change places between two epics must not wait for each other.
 */
export function lockEpicsOf(
  db: Db,
  orgId: string,
  storyRef: string,
  epicId: string | null,
): Promise<EpicOfStory[]> {
  const values = new Values(orgId);
  const left = `(select s.epic_id from stories s where s.org_id = ${values.org} and s.id = ${values.storyId(storyRef)})`;
  return db.all(
    sqlQuery<EpicOfStory>(
      `select e.id, e.project_id from epics e where e.org_id = ${values.org}
       and e.id = any (array[${left}, ${values.$(epicId)}::uuid]) order by e.id for no key update`,
      values.list,
    ),
  );
}
