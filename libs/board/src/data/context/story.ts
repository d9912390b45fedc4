/** The sections of the story, its epic, its spec, and the members who view it. */
import { orgFilter, sql } from '@muster/driver';
import { type EpicRow, epics, toEpic } from '../epics.ts';
import { listOnlookers, maxOnlookers } from '../selections.ts';
import { getSpec } from '../specs.ts';
import { getStory, toStory } from '../stories.ts';
import { toLimitedSection, type SectionReader, toCompleteSection } from './scope.ts';

export const readStory: SectionReader<'story'> = async ({ db, storyId }) =>
  toCompleteSection(toStory(await getStory(db, storyId)));

export const readEpic: SectionReader<'epic'> = async ({ db, storyId }) => {
  const row = await db.find(
    sql<EpicRow>`select ${epics.list} from stories s join epics e on e.org_id = s.org_id and e.id = s.epic_id
       where ${orgFilter('s')} and s.id = ${storyId}`,
  );
  return toCompleteSection(row === undefined ? null : toEpic(row));
};

export const readSpec: SectionReader<'spec'> = async ({ db, storyId }) =>
  toCompleteSection(await getSpec(db, storyId));

export const readOnlookers: SectionReader<'others'> = async ({ db, caller, storyId }) =>
  toLimitedSection(await listOnlookers(db, storyId, caller.memberId, maxOnlookers + 1), maxOnlookers);
