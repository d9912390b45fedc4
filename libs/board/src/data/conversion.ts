/**
 * Writes a whole board in one transaction. It creates the rows in memory and inserts them by few statements.
 */
import { type Db, newId, currentOrgId, splitIntoPortions, type Query, type RowOf, sql } from '@muster/driver';
import { type ParamsOf } from '@muster/contract';
import { type BoardRegistry } from '@muster/board-registry';
import { type Caller } from '@muster/runtime';
import { placeStories } from '../rules/conversion.ts';
import { isFinished } from '../rules/workflow.ts';
import { type ColumnRow } from './columns.ts';
import { disableStoryCountTriggers } from './counts.ts';
import { type EpicRow, epics as epicRecord } from './epics.ts';
import { firstSpecRow, type SpecRow } from './specs.ts';
import { stories as storyRecord } from './stories.ts';

type LocalBoard = ParamsOf<BoardRegistry['projects']['convertLocal']>;
type StoryRow = RowOf<typeof storyRecord>;

/** The rows and counts of a converted board, and the mapping from local IDs to new ones. */
export interface Conversion {
  readonly columns: readonly ColumnRow[];
  readonly epics: readonly EpicRow[];
  readonly stories: readonly StoryRow[];
  readonly specs: readonly SpecRow[];
  readonly canceledStories: number;
  readonly mapping: { readonly epics: Record<string, string>; readonly stories: Record<string, string> };
}

const mapLocalIdsToNewIds = (
  localRecords: readonly { readonly localId: string }[],
  newRecords: readonly { readonly id: string }[],
) => Object.fromEntries(localRecords.map(({ localId }, index) => [localId, newRecords[index]?.id ?? '']));

/** Creates the rows of a local board. The caller has validated it with conversionIssues. */
export function buildConversion(
  { actor }: Caller,
  projectId: string,
  board: LocalBoard,
  emptyColumns: readonly ColumnRow[],
  createdAt: string,
): Conversion {
  const { epics: localEpics, stories: localStories } = board;
  const epicIds = localEpics.map(() => ({ id: newId() }));
  const epicOf = new Map(localEpics.map(({ localId }, index) => [localId, epicIds[index]?.id ?? null]));
  const placements = placeStories(localStories, emptyColumns);
  const storyIds = new Map(localStories.map(({ localId }) => [localId, newId()]));

  const stories = localStories.map((story, index) => {
    const place = placements[index];
    if (place === undefined) throw new Error('a story has no position');
    return storyRecord.make(
      {
        ...story,
        id: storyIds.get(story.localId),
        parentId: story.parentLocalId === undefined ? null : storyIds.get(story.parentLocalId),
        projectId,
        number: index + 1,
        columnId: place.columnId,
        rank: place.rank,
        epicId: story.epicLocalId === undefined ? null : epicOf.get(story.epicLocalId),
        specVersion: (story.spec ?? '') === '' ? 0 : 1,
        createdBy: actor,
        completedAt: isFinished(story.status) ? createdAt : null,
      },
      createdAt,
    );
  });
  const specs = localStories.flatMap(({ spec = '' }, index) =>
    spec === ''
      ? []
      : [firstSpecRow(stories[index]?.id ?? '', { content: spec, author: actor, at: createdAt })],
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
    return epicRecord.make({ ...epic, ...counts, id, projectId }, createdAt);
  });
  return {
    columns: emptyColumns.map((column) => ({ ...column, story_count: inColumn.get(column.id)?.length ?? 0 })),
    epics,
    stories,
    specs,
    canceledStories: inColumn.get(null)?.length ?? 0,
    mapping: {
      epics: mapLocalIdsToNewIds(localEpics, epicIds),
      stories: mapLocalIdsToNewIds(localStories, stories),
    },
  };
}

/**
 * Returns the inserts of specs. The long texts are passed as an array, because jsonb would parse them twice
 * more.
 */
const insertSpecs = ({ actor }: Caller, specs: readonly SpecRow[], createdAt: string): Query<unknown>[] =>
  splitIntoPortions(specs, ({ content }) => content.length).map(
    (portion) =>
      sql`insert into story_specs (org_id, story_id, version, content, content_hash, lines_added, lines_removed, author, created_at)
     select ${currentOrgId}, v.story_id, v.version, v.content, v.content_hash, v.lines_added, v.lines_removed, ${actor}, ${createdAt}
     from unnest(${portion.map(({ story_id }) => story_id)}::uuid[], ${portion.map(({ version }) => version)}::int[], ${portion.map(({ content }) => content)}::text[], ${portion.map(({ content_hash }) => content_hash)}::text[], ${portion.map(({ lines_added }) => lines_added)}::int[], ${portion.map(({ lines_removed }) => lines_removed)}::int[])
       v (story_id, version, content, content_hash, lines_added, lines_removed)`,
  );

/** Writes the content of the board. Its project and its columns exist already, with their counts. */
export function writeConversion(
  db: Db,
  caller: Caller,
  { epics, stories, specs }: Conversion,
  createdAt: string,
): void {
  db.deferToCommit(disableStoryCountTriggers());
  // The inserts are split, and a parent has to be there before its children.
  const [parts, others] = [
    stories.filter((story) => story.parent_id !== null),
    stories.filter((story) => story.parent_id === null),
  ];
  const inserts = [
    ...epicRecord.insertAll(epics),
    ...storyRecord.insertAll([...others, ...parts]),
    ...insertSpecs(caller, specs, createdAt),
  ];
  for (const insert of inserts) db.deferToCommit(insert);
}
