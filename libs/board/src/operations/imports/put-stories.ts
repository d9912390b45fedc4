/** Writes the stories of a call of imports.put, and the epics that they name. */
import { type ImportItem, type ImportResult } from '@muster/contract';
import { insertAndCountStories } from '../../data/counts.ts';
import {
  assignStories,
  findCurrentSpecs,
  createIdForTime,
  type ImportedStory,
  lockStories,
  setLastStoryNumber,
} from '../../data/import-board.ts';
import { importItemKey, type ImportedItem } from '../../data/imports.ts';
import { findReviewsByStoryIds, toMoveGates, noReviews, type Reviews } from '../../data/reviews.ts';
import { firstSpecRow, nextSpecRow, insertSpecVersion, toPreviousSpec } from '../../data/specs.ts';
import { toStoryKey, stories, type StoryRow } from '../../data/stories.ts';
import { hashFields } from '../../rules/import-merge.ts';
import { type PlannedChange, type ImportIssue, planImport } from '../../rules/import-plan.ts';
import { isFinished, findUnmetGates } from '../../rules/workflow.ts';
import {
  createEndRankGenerator,
  defaultImportPosition,
  type ImportPosition,
  resolveImportPosition,
} from './import-places.ts';
import { type ImportBatch } from './import-batch.ts';
import { type ImportedEpics, loadImportedEpics } from './put-epics.ts';

/** An item that has a story after the put. */
export interface ItemWithStory {
  readonly item: ImportItem;
  readonly storyId: string;
  /** True if the put created the story, or if the item had another story at its last import. */
  readonly isNew: boolean;
}

interface PutStoriesResult {
  readonly results: readonly ImportResult[];
  readonly notes: readonly ImportedItem[];
  readonly placed: readonly ItemWithStory[];
}

/** A call of imports.put in progress: the data that it has read, and the rows that it will write. */
interface StoryPutState extends ImportBatch {
  readonly existingStories: Awaited<ReturnType<typeof lockStories>>;
  readonly specs: Awaited<ReturnType<typeof findCurrentSpecs>>;
  readonly reviews: ReadonlyMap<string, Reviews>;
  readonly importedEpics: ImportedEpics;
  readonly nextEndRank: ReturnType<typeof createEndRankGenerator>;
  readonly createdStories: StoryRow[];
  readonly specRows: ReturnType<typeof firstSpecRow>[];
  readonly assignments: { readonly storyId: string; readonly memberId: string }[];
  readonly notes: ImportedItem[];
}

/**
 * An item that the put will write. `epicId` is undefined if the item names no epic. `issues` lists the
 * problems found so far.
 */
interface ItemToWrite {
  readonly item: ImportItem;
  readonly hash: Buffer;
  readonly position: ImportPosition | null;
  readonly epicId: string | null | undefined;
  readonly issues: ImportIssue[];
}

/** The result for an item. `story` is undefined if the item has no story. */
interface StoryPutOutcome {
  readonly outcome: ImportResult['outcome'];
  readonly story?: StoryRow | undefined;
}

/** The structure is part of the hash only if the item has any, so that hashes of earlier releases stay valid. */
const listStructure = ({ parent, dueDate, touches }: ImportItem): unknown[] =>
  [parent, dueDate, touches].every((field) => field === undefined) ? [] : [parent, dueDate, touches];

const hashItem = (item: ImportItem): Buffer =>
  hashFields(
    [
      ...[item.url, item.title, item.description, item.spec, item.status, item.column, item.priority],
      ...[item.labels, item.estimate, item.epic, item.blockedBy, item.assigneeEmail],
      ...[item.createdAt, item.updatedAt],
      ...listStructure(item),
    ].map((said) => said ?? null),
  );

/**
 * Returns the stored result of an earlier import of an item. If another story mirrors the item, the result names
 * that story, without a known hash. At most one story mirrors an item.
 */
function findEarlierImport({ noted, mirrors }: ImportBatch, externalId: string) {
  const item = noted.get(importItemKey('story', externalId));
  const mirror = mirrors.get(externalId);
  if (mirror !== undefined && mirror.id !== item?.record_id)
    return { storyId: mirror.id, hash: null, version: 0 };
  return item && { storyId: item.record_id, hash: item.source_hash, version: item.record_version };
}

export async function putStories(
  batch: ImportBatch,
  items: readonly ImportItem[],
  sourceWins: boolean,
): Promise<PutStoriesResult> {
  const { db, caller, at, board } = batch;
  const ids = items.flatMap(({ externalId }) => findEarlierImport(batch, externalId)?.storyId ?? []);
  const [there, specs, epicsOf, reviews] = await Promise.all([
    lockStories(db, ids),
    findCurrentSpecs(db, ids),
    loadImportedEpics(batch, items),
    findReviewsByStoryIds(db, ids),
  ]);
  const put: StoryPutState = {
    ...{
      ...batch,
      existingStories: there,
      specs,
      importedEpics: epicsOf,
      reviews,
      nextEndRank: createEndRankGenerator(board),
    },
    ...{ createdStories: [], specRows: [], assignments: [], notes: [] },
  };
  const placed: ItemWithStory[] = [];
  const candidates = items.map((item) => toCandidate(put, item));
  const plan = planImport(candidates, { theirs: sourceWins, first: defaultImportPosition(board) });
  const results = plan.map(([candidate, change]): ImportResult => {
    const { item } = candidate;
    const { externalId } = item;
    const issues: ImportIssue[] = [];
    const { outcome, story } = applyChange(put, candidate, change, issues);
    if (story !== undefined) {
      const before = batch.noted.get(importItemKey('story', externalId))?.record_id;
      const isNew = outcome === 'created' || (before !== undefined && before !== story.id);
      placed.push({ item, storyId: story.id, isNew });
    }
    const key = story === undefined ? null : toStoryKey(story);
    const storyId = story?.id ?? null;
    return { externalId, outcome, storyId, recordId: storyId, key, issues };
  });

  const { createdStories: made, specRows, assignments: assigned, notes } = put;
  const { project_id: projectId } = batch.current;
  if (made.length > 0) {
    for (const query of insertAndCountStories(projectId, made)) db.deferToCommit(query);
    db.deferToCommit(setLastStoryNumber(projectId, board.lastStoryNumber + made.length));
  }
  for (const row of specRows) db.deferToCommit(insertSpecVersion(row));
  if (assigned.length > 0) db.deferToCommit(assignStories(projectId, caller.actor, assigned, at));
  return { results, notes: [...epicsOf.getImportedItems(), ...notes], placed };
}

/**
 * Reports whether work on the story keeps the import from changing it. Work in the state `available` prevents
 * only the cancellation of the story.
 */
const isKeptByWork = ({ work, status }: ImportedStory, targetPosition: ImportPosition | null): boolean =>
  work !== null && (work !== 'available' || (targetPosition?.status === 'canceled' && status !== 'canceled'));

function toCandidate(state: StoryPutState, item: ImportItem) {
  const { externalId } = item;
  const noted = findEarlierImport(state, externalId);
  const known = noted && state.existingStories.get(noted.storyId);
  const found = resolveImportPosition(state.board, item);
  const isRefused = found !== null && 'refused' in found;
  const [refused, place] = isRefused ? [found.refused, null] : [undefined, found];
  return {
    ...{ item, externalId, hash: hashItem(item), noted, known, place, refused },
    story: known && { id: known.id, version: known.version, isWorkedOn: isKeptByWork(known, place) },
    findUnmetGateNames: () => (known === undefined ? [] : findUnmetGateNames(state, known, item, place)),
  };
}

function applyChange(
  state: StoryPutState,
  { item, hash, known, place }: ReturnType<typeof toCandidate>,
  change: PlannedChange,
  issues: ImportIssue[],
): StoryPutOutcome {
  if ('issue' in change) {
    issues.push(change.issue);
    return change.kind === 'duplicate' ? { outcome: 'refused' } : { outcome: change.kind, story: known };
  }
  if (change.kind === 'unchanged') return { outcome: 'unchanged', story: known };
  const epicId = item.epic === undefined ? undefined : state.importedEpics.findOrCreateEpicId(item.epic);
  if (epicId === null) issues.push({ path: 'epic', message: 'The epic was deleted in Muster.' });
  const wanted: ItemToWrite = { item, hash, position: place, epicId, issues };
  return change.kind === 'update' && known !== undefined
    ? updateStoryFromItem(state, known, wanted)
    : createStoryFromItem(state, wanted);
}

/** The names of the gates that keep an existing story from the status that its item asks for. */
function findUnmetGateNames(
  { policy, caller, specs, reviews }: StoryPutState,
  story: ImportedStory,
  { spec }: ImportItem,
  targetPosition: ImportPosition | null,
): string[] {
  if (targetPosition === null || targetPosition.status === story.status) return [];
  const content = spec ?? toPreviousSpec(story.id, specs.get(story.id)).content;
  const isNewSpec = spec !== undefined && spec !== specs.get(story.id)?.content;
  const judged = {
    ...story,
    has_spec: content.trim() !== '',
    spec_version: isNewSpec ? story.spec_version + 1 : story.spec_version,
  };
  const gates = toMoveGates(judged, reviews.get(story.id) ?? noReviews, policy, caller);
  return findUnmetGates(targetPosition.status, policy, gates).map(({ gate }) => gate);
}

/** Notes the record of an item, its version, and the hash of the source's content, for the next import. */
function recordPutStory(
  { notes }: StoryPutState,
  { item, hash }: ItemToWrite,
  record: { id: string; version: number },
  isCreated: boolean,
) {
  const { externalId, blockedBy = [], parent = null } = item;
  const { id: recordId, version } = record;
  notes.push({ kind: 'story', externalId, recordId, isMade: isCreated, hash, version, blockedBy, parent });
}

/**
 * Returns the upstream reference of a story that mirrors the item. If the story already mirrored the item, a
 * missing address and the state keep their values.
 */
function buildUpstream(
  { current: { provider }, at }: ImportBatch,
  { externalId, url }: ImportItem,
  previousUpstream: StoryRow['upstream'] = null,
) {
  const same =
    previousUpstream?.provider === provider && previousUpstream.externalId === externalId
      ? previousUpstream
      : null;
  return {
    ...{ provider, externalId, url: url ?? same?.url ?? null },
    ...{ state: same?.state ?? null, syncedAt: at },
  };
}

/** The columns of an existing story that a put may change. */
const importedColumns = [
  ...['title', 'description', 'epic_id', 'priority', 'labels', 'estimate', 'due_date', 'touches', 'upstream'],
  ...['status', 'column_id', 'rank', 'completed_at', 'spec_version'],
];

function updateStoryFromItem(
  state: StoryPutState,
  story: ImportedStory,
  itemToWrite: ItemToWrite,
): StoryPutOutcome {
  const { db, caller, at, specs } = state;
  const { item } = itemToWrite;
  const after = applyItemFields(state, story, itemToWrite);
  const before = toPreviousSpec(story.id, specs.get(story.id));
  const specRow =
    item.spec === undefined || item.spec === before.content
      ? null
      : nextSpecRow(before, { content: item.spec, author: caller.actor, note: null, at });
  const upstream = buildUpstream(state, item, story.upstream);
  if (after === story && specRow === null && upstream.url === (story.upstream?.url ?? null)) {
    recordPutStory(state, itemToWrite, story, false);
    return { outcome: 'unchanged', story };
  }
  const { work: _, ...row } = after;
  const written = {
    ...row,
    ...{ upstream, updated_at: at, version: story.version + 1 },
    spec_version: specRow?.version ?? story.spec_version,
  };
  if (specRow !== null) db.deferToCommit(insertSpecVersion(specRow));
  db.deferToCommit(stories.write(written, importedColumns));
  recordPutStory(state, itemToWrite, written, false);
  return { outcome: 'updated', story };
}

/** Returns the story with the fields of the item. Returns the same object if the item changes nothing. */
function applyItemFields(
  { at, nextEndRank: rankAtEnd }: StoryPutState,
  story: ImportedStory,
  { item, position, epicId }: ItemToWrite,
): ImportedStory {
  const { title, description, priority, labels, estimate, dueDate, touches, updatedAt } = item;
  const own = { title, description, priority, labels, estimate, dueDate, touches };
  const { changed } = stories.changed(story, { ...own, epicId }, at);
  // If the item names a column, the story moves to that column. If the item only has a status, the story
  // moves only if its status differs. Members choose among the columns of one status.
  const moves =
    position !== null &&
    (position.status !== story.status || position.isColumnNamed) &&
    position.column?.id !== (story.column_id ?? undefined);
  if (!moves) return changed;
  return {
    ...changed,
    status: position.status,
    column_id: position.column?.id ?? null,
    rank: rankAtEnd(position.column),
    completed_at: isFinished(position.status) ? (story.completed_at ?? updatedAt ?? at) : null,
  };
}

function createStoryFromItem(state: StoryPutState, itemToWrite: ItemToWrite): StoryPutOutcome {
  const {
    caller,
    at,
    current,
    board,
    members,
    nextEndRank: rankAtEnd,
    createdStories: made,
    specRows,
    assignments: assigned,
  } = state;
  const { item, epicId, issues } = itemToWrite;
  const { column, status } = itemToWrite.position ?? defaultImportPosition(board);
  const { createdAt = at, spec = '', assigneeEmail } = item;
  const story: StoryRow = {
    project_key: board.projectKey,
    ...stories.make(
      {
        id: createIdForTime(createdAt),
        projectId: current.project_id,
        number: board.lastStoryNumber + made.length + 1,
        ...{ title: item.title, description: item.description, priority: item.priority, labels: item.labels },
        ...{ dueDate: item.dueDate, touches: item.touches },
        ...{ estimate: item.estimate, epicId, upstream: buildUpstream(state, item), createdBy: caller.actor },
        ...{ status, columnId: column?.id ?? null, rank: rankAtEnd(column) },
        specVersion: spec === '' ? 0 : 1,
        completedAt: isFinished(status) ? (item.updatedAt ?? at) : null,
        ...{ importedBy: caller.actor, importedFrom: current.provider },
      },
      at,
    ),
    created_at: createdAt,
  };
  made.push(story);
  if (spec !== '') specRows.push(firstSpecRow(story.id, { content: spec, author: caller.actor, at }));
  const assignee = assigneeEmail === undefined ? undefined : members.get(assigneeEmail.toLowerCase());
  if (assignee !== undefined) assigned.push({ storyId: story.id, memberId: assignee.id });
  else if (assigneeEmail !== undefined)
    issues.push({
      path: 'assigneeEmail',
      message: 'No member with access to the project has this e-mail address.',
    });
  recordPutStory(state, itemToWrite, story, true);
  return { outcome: 'created', story };
}
