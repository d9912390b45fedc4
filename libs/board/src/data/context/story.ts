/** The sections of the story, its epic, its spec, and the members who view it. */
import { of, sql } from '@muster/driver';
import { type EpicRow, epics, toEpic } from '../epics.ts';
import { listOnlookers, mostOnlookers } from '../selections.ts';
import { getSpec } from '../specs.ts';
import { getStory, toStory } from '../stories.ts';
import { firstOf, type Section, whole } from './scope.ts';

export const story: Section<'story'> = async ({ db, storyId }) => whole(toStory(await getStory(db, storyId)));

export const epic: Section<'epic'> = async ({ db, storyId }) => {
  const row = await db.find(
    sql<EpicRow>`select ${epics.list} from stories s join epics e on e.org_id = s.org_id and e.id = s.epic_id
       where ${of('s')} and s.id = ${storyId}`,
  );
  return whole(row === undefined ? null : toEpic(row));
};

export const spec: Section<'spec'> = async ({ db, storyId }) => whole(await getSpec(db, storyId));

export const others: Section<'others'> = async ({ db, caller, storyId }) =>
  firstOf(await listOnlookers(db, storyId, caller.memberId, mostOnlookers + 1), mostOnlookers);
