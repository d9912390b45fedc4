/** A whole board written at once: rows made here, and few statements whatever their number. */
import { type Db, type DB, newId, organization, type Query, sql } from '@muster/database';
import { type ParamsOf, type Registry } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import { type Selectable } from 'kysely';
import { placeStories } from '../rules/conversion.ts';
import { isFinished } from '../rules/workflow.ts';
import { type ColumnRow } from './columns.ts';
import { countByHand } from './counts.ts';
import { type EpicRow, epics as epicRecord } from './epics.ts';
import { firstSpecRow } from './specs.ts';

type LocalBoard = ParamsOf<Registry['projects']['convertLocal']>;
type StoryRow = Omit<Selectable<DB['stories']>, 'org_id'>;
type SpecRow = ReturnType<typeof firstSpecRow>;

/** The rows of a board that is brought in, counted, and which became of what. */
export interface Conversion {
  readonly columns: readonly ColumnRow[];
  readonly epics: readonly EpicRow[];
  readonly stories: readonly StoryRow[];
  readonly specs: readonly SpecRow[];
  readonly canceledStories: number;
  readonly mapping: { readonly epics: Record<string, string>; readonly stories: Record<string, string> };
}

const mappingOf = (
  locals: readonly { readonly localId: string }[],
  ids: readonly { readonly id: string }[],
) => Object.fromEntries(locals.map(({ localId }, index) => [localId, ids[index]?.id ?? '']));

/** Makes the rows of a local board in which conversionIssues finds nothing. */
export function convert(
  { actor }: Caller,
  projectId: string,
  board: LocalBoard,
  emptyColumns: readonly ColumnRow[],
  at: string,
): Conversion {
  const { epics: localEpics, stories: localStories } = board;
  const epicIds = localEpics.map(() => ({ id: newId() }));
  const epicOf = new Map(localEpics.map(({ localId }, index) => [localId, epicIds[index]?.id ?? null]));
  const placements = placeStories(localStories, emptyColumns);

  const stories = localStories.map((story, index): StoryRow => {
    const place = placements[index];
    if (place === undefined) throw new Error('each story has a place');
    return {
      id: newId(),
      project_id: projectId,
      number: index + 1,
      title: story.title,
      description: story.description ?? '',
      status: story.status,
      column_id: place.columnId,
      rank: place.rank,
      epic_id: (story.epicLocalId === undefined ? null : epicOf.get(story.epicLocalId)) ?? null,
      priority: story.priority,
      labels: story.labels,
      estimate: story.estimate ?? null,
      blocked: null,
      blocked_by: [],
      spec_version: (story.spec ?? '') === '' ? 0 : 1,
      git: null,
      code: null,
      upstream: null,
      created_by: actor,
      completed_at: isFinished(story.status) ? at : null,
      created_at: at,
      updated_at: at,
      version: 1,
    };
  });
  const specs = localStories.flatMap(({ spec = '' }, index) =>
    spec === '' ? [] : [firstSpecRow(stories[index]?.id ?? '', { content: spec, author: actor, at })],
  );

  const inColumn = Map.groupBy(stories, ({ column_id }) => column_id);
  const inEpic = Map.groupBy(stories, ({ epic_id, status }) => (status === 'canceled' ? null : epic_id));
  const epics = localEpics.map((epic, index): EpicRow => {
    const id = epicIds[index]?.id ?? '';
    const own = inEpic.get(id) ?? [];
    const counts = {
      storyCount: own.length,
      doneCount: own.filter(({ status }) => status === 'done').length,
    };
    return epicRecord.make({ ...epic, ...counts, id, projectId }, at);
  });
  return {
    columns: emptyColumns.map((column) => ({ ...column, story_count: inColumn.get(column.id)?.length ?? 0 })),
    epics,
    stories,
    specs,
    canceledStories: inColumn.get(null)?.length ?? 0,
    mapping: { epics: mappingOf(localEpics, epicIds), stories: mappingOf(localStories, stories) },
  };
}

const insertStories = (stories: readonly StoryRow[]): Query<unknown> =>
  sql`insert into stories select s.* from jsonb_populate_recordset(
    jsonb_populate_record(null::stories, jsonb_build_object('org_id', ${organization}::uuid)), ${JSON.stringify(stories)}) s`;

/** The long texts go as an array of their own: as jsonb they would be parsed twice more. */
const insertSpecs = ({ actor }: Caller, specs: readonly SpecRow[], at: string): Query<unknown> =>
  sql`insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author, created_at)
     select ${organization}, v.story_id, v.version, v.content, v.content_hash, v.lines_added, v.lines_removed, ${actor}, ${at}
     from unnest(${specs.map(({ story_id }) => story_id)}::uuid[], ${specs.map(({ version }) => version)}::int[], ${specs.map(({ content }) => content)}::text[], ${specs.map(({ content_hash }) => content_hash)}::text[], ${specs.map(({ lines_added }) => lines_added)}::int[], ${specs.map(({ lines_removed }) => lines_removed)}::int[])
       v (story_id, version, content, content_hash, lines_added, lines_removed)`;

/** Writes what is on the board; its project and its columns are there already, with their counts. */
export function setConversion(
  db: Db,
  caller: Caller,
  { epics, stories, specs }: Conversion,
  at: string,
): void {
  db.later(countByHand());
  db.later(epicRecord.insertAll(epics));
  db.later(insertStories(stories));
  db.later(insertSpecs(caller, specs, at));
}
