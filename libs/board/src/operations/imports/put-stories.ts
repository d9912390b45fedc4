/** The stories of a put, and the epics that they name. */
import { type Db } from '@muster/database';
import { type ImportItem, type ImportResult } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import {
  assignStories,
  findSpecs,
  idAt,
  type ImportBoard,
  type ImportColumn,
  type KnownMember,
  type ImportedStory,
  lockStories,
  setLastNumber,
} from '../../data/import-board.ts';
import { type ImportRow, itemKey, type ItemRow, type NotedItem } from '../../data/imports.ts';
import { firstSpecRow, nextSpec, setSpec, specBefore } from '../../data/specs.ts';
import { keyOf, stories, type StoryRow } from '../../data/stories.ts';
import { hashOf, verdictOn } from '../../rules/import-merge.ts';
import { canceledRank, rankBetween } from '../../rules/ranks.ts';
import { isFinished } from '../../rules/workflow.ts';
import { openEpics } from './put-epics.ts';

/** What a put meets. */
export interface Meeting {
  readonly db: Db;
  readonly caller: Caller;
  readonly at: string;
  readonly current: ImportRow;
  readonly board: ImportBoard;
  /** Items that were put before, by itemKey. */
  readonly noted: ReadonlyMap<string, ItemRow>;
  /** Stories that mirror items without an import, by external id. */
  readonly mirrors: ReadonlyMap<string, { readonly id: string; readonly version: number }>;
  readonly members: ReadonlyMap<string, KnownMember>;
}

type Issue = ImportResult['issues'][number];

/** An item whose story is there. */
export interface Placed {
  readonly item: ImportItem;
  readonly storyId: string;
}

interface PutStories {
  readonly results: readonly ImportResult[];
  readonly notes: readonly NotedItem[];
  readonly placed: readonly Placed[];
}

/** Where an item wants to be; `refused` where the board has no such place. */
type Place =
  | { readonly column: ImportColumn | null; readonly status: StoryRow['status']; readonly isNamed: boolean }
  | { readonly refused: Issue }
  | null;

function placeOf({ columns }: ImportBoard, { column, status }: ImportItem): Place {
  if (column !== undefined) {
    const found = columns.find(({ name }) => name.toLowerCase() === column.toLowerCase());
    return found === undefined
      ? { refused: { path: 'column', message: `The board has no column ${column}.` } }
      : { column: found, status: found.status, isNamed: true };
  }
  if (status === undefined) return null;
  if (status === 'canceled') return { column: null, status, isNamed: false };
  const found = columns.find((candidate) => candidate.status === status);
  return found === undefined
    ? { refused: { path: 'status', message: `The board has no column of status ${status}.` } }
    : { column: found, status, isNamed: false };
}

const hashOfItem = (item: ImportItem): Buffer =>
  hashOf(
    [
      ...[item.url, item.title, item.description, item.spec, item.status, item.column, item.priority],
      ...[item.labels, item.estimate, item.epic, item.blockedBy, item.assigneeEmail],
      ...[item.createdAt, item.updatedAt],
    ].map((said) => said ?? null),
  );

const keptBecause = {
  changed: 'It was changed here since the last import.',
  deleted: 'It was deleted here.',
  worked_on: 'It is being worked on here.',
} as const;

/** The ends of columns, each of which a story goes to after the one before. */
function endsOf({ columns }: ImportBoard) {
  const lasts = new Map(columns.map(({ id, last }) => [id, last]));
  return (column: ImportColumn | null): string => {
    if (column === null) return canceledRank();
    const rank = rankBetween(lasts.get(column.id) ?? null, null);
    lasts.set(column.id, rank);
    return rank;
  };
}

export async function putStories(
  meeting: Meeting,
  items: readonly ImportItem[],
  theirs: boolean,
): Promise<PutStories> {
  const { db, caller, at, current, board, noted, mirrors, members } = meeting;
  const { project_id: projectId, provider } = current;
  /** What is known of an item: as it was noted, or of a story that mirrors it without an import. */
  const knownOf = (externalId: string) => {
    const item = noted.get(itemKey('story', externalId));
    if (item !== undefined)
      return { storyId: item.record_id, hash: item.source_hash, version: item.record_version };
    const mirror = mirrors.get(externalId);
    return mirror === undefined ? undefined : { storyId: mirror.id, hash: null, version: 0 };
  };
  const ids = items.flatMap(({ externalId }) => knownOf(externalId)?.storyId ?? []);
  const [there, specs, epicsOf] = await Promise.all([
    lockStories(db, ids),
    findSpecs(db, ids),
    openEpics(meeting, items),
  ]);

  const rankAtEnd = endsOf(board);
  const seen = new Set<string>();
  const made: StoryRow[] = [];
  const assigned: { storyId: string; memberId: string }[] = [];
  const notes: NotedItem[] = [];
  const specRows: ReturnType<typeof firstSpecRow>[] = [];
  const placed: Placed[] = [];
  let lastNumber = board.lastNumber;

  const results = items.map((item): ImportResult => {
    const { externalId } = item;
    const issues: Issue[] = [];
    const answer = (outcome: ImportResult['outcome'], story?: StoryRow): ImportResult => {
      if (story !== undefined) placed.push({ item, storyId: story.id });
      return {
        externalId,
        outcome,
        storyId: story?.id ?? null,
        key: story === undefined ? null : keyOf(story),
        issues,
      };
    };
    if (seen.has(externalId)) {
      issues.push({ path: 'externalId', message: 'An item before it in this call has it, too.' });
      return answer('refused');
    }
    seen.add(externalId);
    const known = knownOf(externalId);
    const story = known === undefined ? undefined : there.get(known.storyId);
    const hash = hashOfItem(item);
    const here = story === undefined ? undefined : { version: story.version, isWorkedOn: story.worked_on };
    const verdict = verdictOn(known, here, hash, theirs);
    if (verdict.kind === 'unchanged') return answer('unchanged', story);
    if (verdict.kind === 'keep') {
      issues.push({ path: 'externalId', message: keptBecause[verdict.because] });
      return answer('kept', story);
    }
    const place = placeOf(board, item);
    if (place !== null && 'refused' in place) {
      issues.push(place.refused);
      return answer('refused', story);
    }
    const epicId = item.epic === undefined ? undefined : epicsOf.idOf(item.epic);
    if (epicId === null) issues.push({ path: 'epic', message: 'The epic was deleted here.' });
    const note = (recordId: string, version: number, isMade: boolean): void => {
      const { blockedBy = [] } = item;
      notes.push({ kind: 'story', externalId, recordId, isMade, hash, version, blockedBy });
    };
    const upstream = { provider, externalId, url: item.url ?? null, state: null, syncedAt: at };

    if (verdict.kind === 'update' && story !== undefined) {
      const after = followed(story, item, { place, epicId, rankAtEnd, at });
      const before = specBefore(story.id, specs.get(story.id));
      const specRow =
        item.spec === undefined || item.spec === before.content
          ? null
          : nextSpec(before, { content: item.spec, author: caller.actor, note: null, at });
      if (specRow !== null) db.later(setSpec(specRow));
      const isChanged = after !== story || specRow !== null;
      if (!isChanged) {
        note(story.id, story.version, false);
        return answer('unchanged', story);
      }
      const { worked_on: _, ...row } = after;
      const written = {
        ...row,
        ...{ upstream, updated_at: at, version: story.version + 1 },
        spec_version: specRow?.version ?? story.spec_version,
      };
      db.later(stories.write(written, followedColumns));
      note(story.id, written.version, false);
      return answer('updated', story);
    }

    const { column, status } = place ?? firstPlace(board);
    if (column === null && status !== 'canceled') {
      issues.push({ path: 'status', message: 'The board has no column of status backlog.' });
      return answer('refused');
    }
    const createdAt = item.createdAt ?? at;
    lastNumber += 1;
    const fresh: StoryRow = {
      project_key: board.projectKey,
      ...stories.make(
        {
          ...{ id: idAt(createdAt), projectId, number: lastNumber, title: item.title, status },
          ...{ description: item.description, priority: item.priority, labels: item.labels },
          ...{ estimate: item.estimate, epicId, upstream, columnId: column?.id ?? null },
          ...{ rank: rankAtEnd(column), createdBy: caller.actor },
          specVersion: (item.spec ?? '') === '' ? 0 : 1,
          completedAt: isFinished(status) ? (item.updatedAt ?? at) : null,
        },
        at,
      ),
      created_at: createdAt,
    };
    made.push(fresh);
    if (item.spec !== undefined && item.spec !== '')
      specRows.push(firstSpecRow(fresh.id, { content: item.spec, author: caller.actor, at }));
    const assignee =
      item.assigneeEmail === undefined ? undefined : members.get(item.assigneeEmail.toLowerCase());
    if (assignee !== undefined) assigned.push({ storyId: fresh.id, memberId: assignee.id });
    else if (item.assigneeEmail !== undefined)
      issues.push({ path: 'assigneeEmail', message: 'No member who sees the project has this address.' });
    note(fresh.id, fresh.version, true);
    return answer('created', fresh);
  });

  if (made.length > 0) {
    db.later(stories.insertAll(made));
    db.later(setLastNumber(projectId, lastNumber));
  }
  for (const row of specRows) db.later(setSpec(row));
  if (assigned.length > 0) db.later(assignStories(projectId, caller.actor, assigned, at));
  return { results, notes: [...epicsOf.notes(), ...notes], placed };
}

/** Backlog, where an item says nothing. */
const firstPlace = ({
  columns,
}: ImportBoard): { column: ImportColumn | null; status: StoryRow['status'] } => ({
  column: columns.find(({ status }) => status === 'backlog') ?? null,
  status: 'backlog',
});

/** What a put may change of a story that is there. */
const followedColumns = [
  ...['title', 'description', 'epic_id', 'priority', 'labels', 'estimate', 'upstream'],
  ...['status', 'column_id', 'rank', 'completed_at', 'spec_version'],
];

interface Following {
  readonly place: Exclude<Place, { readonly refused: Issue }>;
  /** Undefined leaves it. */
  readonly epicId: string | null | undefined;
  readonly rankAtEnd: (column: ImportColumn | null) => string;
  readonly at: string;
}

/** The story as the item says it; the story itself where it says the same. */
function followed(
  story: ImportedStory,
  { title, description, priority, labels, estimate, updatedAt }: ImportItem,
  { place, epicId, rankAtEnd, at }: Following,
): ImportedStory {
  const wanted = { title, description, priority, labels, estimate, epicId };
  const { changed } = stories.changed(story, wanted, at);
  // A column says where it is to be, a status only that it be so: a move among columns of one status is the board's own.
  const moves =
    place !== null &&
    (place.status !== story.status || place.isNamed) &&
    place.column?.id !== (story.column_id ?? undefined);
  if (!moves) return changed;
  return {
    ...changed,
    status: place.status,
    column_id: place.column?.id ?? null,
    rank: rankAtEnd(place.column),
    completed_at: isFinished(place.status) ? (story.completed_at ?? updatedAt ?? at) : null,
  };
}
