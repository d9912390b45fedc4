/** Validates a local board for conversion, and finds the column and rank of each story. */
import { type ColumnStatus, type Issue, type StoryStatus } from '@muster/contract';
import { createCanceledRank, ranksAfter } from './ranks.ts';

interface LocalBoard {
  readonly epics: readonly { readonly localId: string }[];
  readonly stories: readonly {
    readonly localId: string;
    readonly status: StoryStatus;
    readonly epicLocalId?: string | undefined;
    readonly parentLocalId?: string | undefined;
  }[];
}

/** Returns an issue for each local ID that an earlier item of the list already has. */
function findDuplicateLocalIds(listName: string, items: readonly { readonly localId: string }[]): Issue[] {
  const first = new Map<string, number>();
  return items.flatMap(({ localId }, index) => {
    const earlier = first.get(localId);
    if (earlier === undefined) {
      first.set(localId, index);
      return [];
    }
    return [
      { path: `${listName}[${index}].localId`, message: `duplicates the localId of ${listName}[${earlier}]` },
    ];
  });
}

/** Returns the problem of a story's parent: it has to be another story of the call, without a parent. */
function findParentProblem(
  { localId, parentLocalId }: LocalBoard['stories'][number],
  storiesById: ReadonlyMap<string, LocalBoard['stories'][number]>,
): string | undefined {
  if (parentLocalId === undefined) return undefined;
  const parent = storiesById.get(parentLocalId);
  if (parent === undefined) return 'does not match the localId of any story in this call';
  return parentLocalId === localId || parent.parentLocalId !== undefined
    ? 'must be another story that has no parent'
    : undefined;
}

/** Returns all issues that prevent the conversion, by field. The list is empty for a valid board. */
export function conversionIssues(
  { epics, stories }: LocalBoard,
  columns: readonly { readonly status: ColumnStatus }[],
): Issue[] {
  const known = new Set(epics.map(({ localId }) => localId));
  const storiesById = new Map(stories.map((story) => [story.localId, story]));
  const placed = new Set<StoryStatus>([...columns.map(({ status }) => status), 'canceled']);
  return [
    ...findDuplicateLocalIds('epics', epics),
    ...findDuplicateLocalIds('stories', stories),
    ...stories.flatMap((story, index): Issue[] => {
      const message = findParentProblem(story, storiesById);
      return message === undefined ? [] : [{ path: `stories[${index}].parentLocalId`, message }];
    }),
    ...stories.flatMap(({ status, epicLocalId }, index): Issue[] => [
      ...(epicLocalId === undefined || known.has(epicLocalId)
        ? []
        : [
            {
              path: `stories[${index}].epicLocalId`,
              message: 'does not match the localId of any epic in this call',
            },
          ]),
      ...(placed.has(status)
        ? []
        : [
            {
              path: `stories[${index}].status`,
              message: `is ${status}, but the board has no column with that status`,
            },
          ]),
    ]),
  ];
}

export interface Placement {
  /** Null for a canceled story, which is in no column. */
  readonly columnId: string | null;
  readonly rank: string;
}

/** Returns the place of each story: in the first column of its status, in the given order. */
export function placeStories(
  stories: readonly { readonly status: StoryStatus }[],
  columns: readonly { readonly id: string; readonly status: ColumnStatus }[],
): Placement[] {
  const ofStatus = Map.groupBy(stories, ({ status }) => status);
  const ranks = new Map(
    [...ofStatus].map(([status, those]) => [status, ranksAfter(null, those.length).values()]),
  );
  return stories.map(({ status }) => {
    if (status === 'canceled') return { columnId: null, rank: createCanceledRank() };
    const column = columns.find((candidate) => candidate.status === status);
    const rank = ranks.get(status)?.next().value;
    if (column === undefined || rank === undefined) throw new Error(`no column with status ${status}`);
    return { columnId: column.id, rank };
  });
}
