/** The story itself, what it is for, and who is about it. */
import { sqlQuery, Values } from '@muster/database';
import { type EpicRow, epicColumns, toEpic } from '../epics.ts';
import { listOnlookers, mostOnlookers } from '../selections.ts';
import { getSpec } from '../specs.ts';
import { getStory, toStory } from '../stories.ts';
import { firstOf, type Section, whole } from './scope.ts';

export const story: Section<'story'> = async ({ db, caller, storyRef }) =>
  whole(toStory(await getStory(db, caller.orgId, storyRef)));

export const epic: Section<'epic'> = async ({ db, caller, storyRef }) => {
  const values = new Values(caller.orgId);
  const row = await db.find(
    sqlQuery<EpicRow>(
      `select ${epicColumns} from stories s join epics e on e.org_id = s.org_id and e.id = s.epic_id
       where s.org_id = ${values.org} and s.id = ${values.storyId(storyRef)}`,
      values.list,
    ),
  );
  return whole(row === undefined ? null : toEpic(row));
};

export const spec: Section<'spec'> = async ({ db, caller, storyRef }) =>
  whole(await getSpec(db, caller.orgId, storyRef));

export const others: Section<'others'> = async ({ db, caller, storyRef }) =>
  firstOf(await listOnlookers(db, caller.orgId, storyRef, caller.memberId, mostOnlookers + 1), mostOnlookers);
