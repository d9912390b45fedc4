/** Writes the columns, epics, stories and specs of an archive. */
import { isUuid, type CodeUnderReview, noReportedCode, toUpstream } from '@muster/contract';
import { boardColumns } from '../../../data/columns.ts';
import { epics } from '../../../data/epics.ts';
import { type TakenUniqueValues, upstreamKey } from '../../../data/import-archive.ts';
import { type ImportColumn } from '../../../data/import-board.ts';
import { importItemKey } from '../../../data/imports.ts';
import { stories, type StoryRow } from '../../../data/stories.ts';
import { createIdLike } from '../../../rules/archive-ids.ts';
import { maxColumns } from '../../../rules/columns.ts';
import { createCanceledRank, rankBetween } from '../../../rules/ranks.ts';
import { isFinished } from '../../../rules/workflow.ts';
import { createHash } from 'node:crypto';
import { createEndRankGenerator } from '../import-places.ts';
import {
  type ArchiveBatch,
  type ArchiveLine,
  findEarlierResult,
  findRecordId,
  findStoryOfLine,
  importColumns,
  keptLine,
  type LineResult,
  recordImportedItem,
  refusedLine,
  toLocalActor,
} from './archive-batch.ts';
import { findProjectMismatch } from './put-people.ts';

/** The places on the board, as this put leaves them. */
export interface BoardAllocations {
  /** The active columns from left to right, including those that this put creates. */
  readonly columns: ImportColumn[];
  /** The columns that lines of the archive stand for. */
  readonly claimedColumnIds: Set<string>;
  readonly numbers: Set<number>;
  /** The ranks that stories have, as `<column id> <rank>`. */
  readonly ranks: Set<string>;
  readonly upstreams: Set<string>;
  lastNumber: number;
}

const positionKey = (columnId: string | null, rank: string): string => `${columnId ?? ''} ${rank}`;

export function readAllocations(
  { board, noted }: ArchiveBatch,
  taken: readonly TakenUniqueValues[],
): BoardAllocations {
  return {
    columns: board.columns.map((column) => ({ ...column })),
    claimedColumnIds: new Set(
      [...noted.values()].flatMap(({ kind, record_id: id }) => (kind === 'column' ? id : [])),
    ),
    numbers: new Set(taken.map(({ number }) => number)),
    ranks: new Set(taken.map(({ column_id: columnId, rank }) => positionKey(columnId, rank))),
    upstreams: new Set(taken.flatMap(({ upstream }) => upstream ?? [])),
    lastNumber: board.lastStoryNumber,
  };
}

/**
 * Finds or creates the column of a line. Only a project that was empty gets new columns, and its own ones take over the
 * facts of the archive.
 */
export function putColumn(
  batch: ArchiveBatch,
  places: BoardAllocations,
  line: ArchiveLine<'columns'>,
): LineResult {
  const earlier = findProjectMismatch(batch, line) ?? findEarlierResult(batch, 'column', line);
  if (earlier !== undefined) return earlier;
  const { db, current, writes } = batch;
  const { name, status, position, wipLimit, archivedAt, createdAt, updatedAt, version } = line;
  const isActive = archivedAt === null;
  const named = places.columns.find(
    (column) =>
      column.status === status &&
      column.name.toLowerCase() === name.toLowerCase() &&
      !places.claimedColumnIds.has(column.id),
  );
  if (!current.into_empty_project) {
    const column = named ?? places.columns.find((one) => one.status === status);
    if (column === undefined || !isActive)
      return keptLine('The project had stories before, so it gets no columns of the archive.');
    recordImportedItem(batch, 'column', line, column.id, { isCreated: false });
    return { outcome: 'unchanged', recordId: column.id };
  }
  if (isActive && named === undefined && places.columns.length >= maxColumns)
    return refusedLine('id', `The board has ${maxColumns} columns already.`);
  const columnId = isActive && named !== undefined ? named.id : createIdLike(line.id);
  const row = {
    ...boardColumns.make(
      { id: columnId, projectId: current.project_id, name, status, position, wipLimit, archivedAt },
      updatedAt,
    ),
    ...{ created_at: createdAt, version },
  };
  if (columnId === named?.id)
    db.deferToCommit(boardColumns.write(row, ['name', 'position', 'wip_limit', 'created_at']));
  else {
    writes.columns.push(row);
    if (isActive)
      places.columns.push({ id: columnId, name, status, lastRank: null, wipLimit, storyCount: 0 });
  }
  places.claimedColumnIds.add(columnId);
  recordImportedItem(batch, 'column', line, columnId, { version, isCreated: false });
  return { outcome: columnId === named?.id ? 'updated' : 'created', recordId: columnId };
}

export function putEpic(batch: ArchiveBatch, line: ArchiveLine<'epics'>): LineResult {
  const earlier = findProjectMismatch(batch, line) ?? findEarlierResult(batch, 'epic', line);
  if (earlier !== undefined) return earlier;
  const { title, description, color, targetDate, status, createdAt, updatedAt, version } = line;
  const epic = {
    ...epics.make(
      {
        ...{ id: createIdLike(line.id), projectId: batch.current.project_id },
        ...{ title, description, color, targetDate, status },
      },
      updatedAt,
    ),
    ...{ created_at: createdAt, version },
  };
  batch.writes.epics.push(epic);
  recordImportedItem(batch, 'epic', line, epic.id, { version });
  return { outcome: 'created', recordId: epic.id };
}

/** A rank is stored only if another one can be computed from it later. */
function isRank(rank: string): boolean {
  try {
    return rankBetween(rank, null) > rank;
  } catch {
    return false;
  }
}

/** Returns the column of a story: that of its line, or the first of its status. Null for a canceled story. */
function findColumn(
  batch: ArchiveBatch,
  { columns }: BoardAllocations,
  { columnId, status }: ArchiveLine<'stories'>,
): ImportColumn | null | undefined {
  if (status === 'canceled') return null;
  const recordId = findRecordId(batch, 'column', columnId);
  return (
    columns.find(({ id }) => id === recordId) ??
    columns.find((column) => column.status === status) ??
    columns.find((column) => column.status === 'backlog')
  );
}

/** Returns the code under review. Facts of the forge about earlier commits are not imported. */
const toCode = (line: ArchiveLine<'stories'>): CodeUnderReview | null => {
  const { headSha = null, diffHash = null } = line.code ?? line.git ?? {};
  return headSha === null && diffHash === null
    ? null
    : { ...noReportedCode, seq: 1, headSha, diffHash, at: line.updatedAt };
};

/** Returns the story's number: its own if the project was empty and the number is free, otherwise the next one. */
function takeNumber({ current }: ArchiveBatch, places: BoardAllocations, archived: number): number {
  const number =
    current.into_empty_project && !places.numbers.has(archived) ? archived : places.lastNumber + 1;
  places.numbers.add(number);
  places.lastNumber = Math.max(places.lastNumber, number);
  return number;
}

/** Returns the story's rank: its own if the project was empty and the place is free, otherwise the end of the column. */
function takeRank(
  { current }: ArchiveBatch,
  places: BoardAllocations,
  column: ImportColumn | null,
  archived: string,
): string {
  const isValid = column === null ? isUuid(archived) : isRank(archived);
  const isFree = !places.ranks.has(positionKey(column?.id ?? null, archived));
  const rank =
    current.into_empty_project && isValid && isFree
      ? archived
      : column === null
        ? createCanceledRank()
        : createEndRankGenerator({ projectKey: '', lastStoryNumber: 0, columns: [column] })(column);
  places.ranks.add(positionKey(column?.id ?? null, rank));
  if (column !== null && (column.lastRank === null || rank > column.lastRank))
    places.columns.splice(places.columns.indexOf(column), 1, { ...column, lastRank: rank });
  return rank;
}

/**
 * Returns the result for the line of a story that was imported before. This import takes over its blockers and its
 * parent, because the import that created it may have been given up.
 */
function repeatStory(batch: ArchiveBatch, line: ArchiveLine<'stories'>, earlier: LineResult): LineResult {
  if (earlier.outcome === 'refused') return earlier;
  const note = batch.noted.get(importItemKey('story', line.id));
  if (note === undefined || !batch.existingStories.has(note.record_id))
    return keptLine('The story was deleted in Muster.');
  const { blockedBy, parentId: parent } = line;
  if (earlier.outcome === 'unchanged')
    recordImportedItem(batch, 'story', line, note.record_id, {
      ...{ version: note.record_version, isCreated: false, blockedBy, parent },
    });
  return earlier;
}

export function putStory(
  batch: ArchiveBatch,
  places: BoardAllocations,
  line: ArchiveLine<'stories'>,
): LineResult {
  const earlier = findProjectMismatch(batch, line) ?? findEarlierResult(batch, 'story', line);
  if (earlier !== undefined) return repeatStory(batch, line, earlier);
  const column = findColumn(batch, places, line);
  if (column === undefined) return refusedLine('columnId', 'The board has no column with status backlog.');
  const issues: { path: string; message: string }[] = [];
  const { title, description, priority, labels, estimate, dueDate, touches, git } = line;
  const status = column?.status ?? 'canceled';
  const epicId = findRecordId(batch, 'epic', line.epicId) ?? null;
  if (line.epicId !== null && epicId === null)
    issues.push({ path: 'epicId', message: 'Its epic was not imported.' });
  const upstream = line.upstream === null ? null : toUpstream(line.upstream);
  const isMirrored = upstream !== null && places.upstreams.has(upstreamKey(upstream));
  if (isMirrored)
    issues.push({ path: 'upstream', message: 'Another story of the project mirrors the same record.' });
  else if (upstream !== null) places.upstreams.add(upstreamKey(upstream));
  const { blocked } = line;
  const unblockerMemberId = findRecordId(batch, 'member', blocked?.unblockerMemberId ?? null);
  const story: StoryRow = {
    project_key: batch.board.projectKey,
    ...stories.make(
      {
        id: createIdLike(line.id),
        projectId: batch.current.project_id,
        number: takeNumber(batch, places, line.number),
        rank: takeRank(batch, places, column, line.rank),
        columnId: column?.id ?? null,
        ...{ title, description, status, priority, labels, estimate, dueDate, touches, git, epicId },
        blocked:
          blocked === null ? null : { ...blocked, unblockerMemberId: (unblockerMemberId ?? null) as string },
        code: toCode(line),
        upstream: isMirrored ? null : upstream,
        createdBy: toLocalActor(batch, line.createdBy),
        completedAt: isFinished(status) ? (line.completedAt ?? line.updatedAt) : null,
      },
      line.updatedAt,
    ),
    ...importColumns(batch),
    ...{ created_at: line.createdAt, version: line.version },
  };
  batch.writes.stories.set(story.id, story);
  const { blockedBy, parentId: parent, version } = line;
  recordImportedItem(batch, 'story', line, story.id, { version, blockedBy, parent });
  return { outcome: 'created', recordId: story.id, issues };
}

/** Adds the next version to the spec of a story that nobody has changed here since its import. */
export function putSpec(batch: ArchiveBatch, line: ArchiveLine<'specs'>): LineResult {
  const found = findStoryOfLine(batch, line.storyId);
  if ('outcome' in found) return found;
  const { story, existing } = found;
  const { specVersions, specs } = batch.writes;
  const current = specVersions.get(story.id) ?? story.spec_version;
  if (line.version <= current) return { outcome: 'unchanged', recordId: story.id };
  if (line.version > current + 1)
    return refusedLine('version', `Version ${current + 1} of the spec has to come first.`);
  const note = batch.noted.get(importItemKey('story', line.storyId));
  if (existing !== undefined && (existing.work !== null || existing.version !== note?.record_version))
    return keptLine('The story was changed in Muster since it was imported.', story.id);
  specs.push({
    story_id: story.id,
    version: line.version,
    content: line.content,
    content_hash: createHash('sha256').update(line.content).digest('hex'),
    lines_added: line.linesAdded,
    lines_removed: line.linesRemoved,
    author: toLocalActor(batch, line.author),
    ...importColumns(batch),
    note: line.note,
    created_at: line.createdAt,
  });
  specVersions.set(story.id, line.version);
  return { outcome: 'created', recordId: story.id };
}
