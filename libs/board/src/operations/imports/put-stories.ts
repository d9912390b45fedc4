/** Writes the stories of a call of imports.put, and the epics that they name. */
import { type Db } from '@muster/driver';
import { type ImportItem, type ImportResult, type Policy } from '@muster/registry';
import { type Caller } from '@muster/runtime';
import {
  assignStories,
  findSpecs,
  idAt,
  type ImportBoard,
  type KnownMember,
  type ImportedStory,
  lockStories,
  setLastNumber,
} from '../../data/import-board.ts';
import { type ImportRow, itemKey, type ItemRow, type NotedItem } from '../../data/imports.ts';
import { findReviewsOf, gatesOf, noReviews, type Reviews } from '../../data/reviews.ts';
import { firstSpecRow, nextSpec, setSpec, specBefore } from '../../data/specs.ts';
import { keyOf, stories, type StoryRow } from '../../data/stories.ts';
import { hashOf } from '../../rules/import-merge.ts';
import { type Change, type ImportIssue, planImport } from '../../rules/import-plan.ts';
import { isFinished, unmetGates } from '../../rules/workflow.ts';
import { endsOf, firstPlace, type ImportPosition, placeOf } from './import-places.ts';
import { type ItemEpics, openEpics } from './put-epics.ts';

/** The data that all parts of an imports.put share: the call, the board, and the notes of earlier imports. */
export interface ImportBatch {
  readonly db: Db;
  readonly caller: Caller;
  readonly at: string;
  readonly policy: Policy;
  readonly current: ImportRow;
  readonly board: ImportBoard;
  /** The notes of earlier imports about the items, by itemKey. */
  readonly noted: ReadonlyMap<string, ItemRow>;
  /** Stories that mirror items, by external id. */
  readonly mirrors: ReadonlyMap<string, { readonly id: string; readonly version: number }>;
  /** The members by e-mail. */
  readonly members: ReadonlyMap<string, KnownMember>;
  /** True if the caller may import and change comments whose author is another member: admins only. */
  readonly writesForMembers: boolean;
}

/** An item that has a story after the put. */
export interface Placed {
  readonly item: ImportItem;
  readonly storyId: string;
  /** True if the put created the story, or if the item had another story at its last import. */
  readonly isNew: boolean;
}

interface PutStories {
  readonly results: readonly ImportResult[];
  readonly notes: readonly NotedItem[];
  readonly placed: readonly Placed[];
}

/** A call of imports.put in progress: the data that it has read, and the rows that it will write. */
interface Put extends ImportBatch {
  readonly there: Awaited<ReturnType<typeof lockStories>>;
  readonly specs: Awaited<ReturnType<typeof findSpecs>>;
  readonly reviews: ReadonlyMap<string, Reviews>;
  readonly epicsOf: ItemEpics;
  readonly rankAtEnd: ReturnType<typeof endsOf>;
  readonly made: StoryRow[];
  readonly specRows: ReturnType<typeof firstSpecRow>[];
  readonly assigned: { readonly storyId: string; readonly memberId: string }[];
  readonly notes: NotedItem[];
}

/**
 * An item that the put will write. `epicId` is undefined if the item names no epic. `issues` lists the
 * problems found so far.
 */
interface Wanted {
  readonly item: ImportItem;
  readonly hash: Buffer;
  readonly place: ImportPosition | null;
  readonly epicId: string | null | undefined;
  readonly issues: ImportIssue[];
}

/** The result for an item. `story` is undefined if the item has no story. */
interface Outcome {
  readonly outcome: ImportResult['outcome'];
  readonly story?: StoryRow | undefined;
}

const hashOfItem = (item: ImportItem): Buffer =>
  hashOf(
    [
      ...[item.url, item.title, item.description, item.spec, item.status, item.column, item.priority],
      ...[item.labels, item.estimate, item.epic, item.blockedBy, item.assigneeEmail],
      ...[item.createdAt, item.updatedAt],
    ].map((said) => said ?? null),
  );

/**
 * Returns the notes of earlier imports about an item. If another story mirrors the item, the result names
 * that story, without a known hash. At most one story mirrors an item.
 */
function knownOf({ noted, mirrors }: ImportBatch, externalId: string) {
  const item = noted.get(itemKey('story', externalId));
  const mirror = mirrors.get(externalId);
  if (mirror !== undefined && mirror.id !== item?.record_id)
    return { storyId: mirror.id, hash: null, version: 0 };
  return item && { storyId: item.record_id, hash: item.source_hash, version: item.record_version };
}

export async function putStories(
  meeting: ImportBatch,
  items: readonly ImportItem[],
  theirs: boolean,
): Promise<PutStories> {
  const { db, caller, at, board } = meeting;
  const ids = items.flatMap(({ externalId }) => knownOf(meeting, externalId)?.storyId ?? []);
  const [there, specs, epicsOf, reviews] = await Promise.all([
    lockStories(db, ids),
    findSpecs(db, ids),
    openEpics(meeting, items),
    findReviewsOf(db, ids),
  ]);
  const put: Put = {
    ...{ ...meeting, there, specs, epicsOf, reviews, rankAtEnd: endsOf(board) },
    ...{ made: [], specRows: [], assigned: [], notes: [] },
  };
  const placed: Placed[] = [];
  const candidates = items.map((item) => candidateOf(put, item));
  const plan = planImport(candidates, { theirs, first: firstPlace(board) });
  const results = plan.map(([candidate, change]): ImportResult => {
    const { item } = candidate;
    const { externalId } = item;
    const issues: ImportIssue[] = [];
    const { outcome, story } = applyChange(put, candidate, change, issues);
    if (story !== undefined) {
      const before = meeting.noted.get(itemKey('story', externalId))?.record_id;
      const isNew = outcome === 'created' || (before !== undefined && before !== story.id);
      placed.push({ item, storyId: story.id, isNew });
    }
    const key = story === undefined ? null : keyOf(story);
    return { externalId, outcome, storyId: story?.id ?? null, key, issues };
  });

  const { made, specRows, assigned, notes } = put;
  const { project_id: projectId } = meeting.current;
  if (made.length > 0) {
    for (const insert of stories.insertAll(made)) db.later(insert);
    db.later(setLastNumber(projectId, board.lastNumber + made.length));
  }
  for (const row of specRows) db.later(setSpec(row));
  if (assigned.length > 0) db.later(assignStories(projectId, caller.actor, assigned, at));
  return { results, notes: [...epicsOf.notes(), ...notes], placed };
}

/**
 * Reports whether work on the story keeps the import from changing it. Work in the state `available` prevents
 * only the cancellation of the story.
 */
const isWorkedOn = ({ work, status }: ImportedStory, place: ImportPosition | null): boolean =>
  work !== null && (work !== 'available' || (place?.status === 'canceled' && status !== 'canceled'));

function candidateOf(put: Put, item: ImportItem) {
  const { externalId } = item;
  const noted = knownOf(put, externalId);
  const known = noted && put.there.get(noted.storyId);
  const found = placeOf(put.board, item);
  const isRefused = found !== null && 'refused' in found;
  const [refused, place] = isRefused ? [found.refused, null] : [undefined, found];
  return {
    ...{ item, externalId, hash: hashOfItem(item), noted, known, place, refused },
    story: known && { id: known.id, version: known.version, isWorkedOn: isWorkedOn(known, place) },
    closedGates: () => (known === undefined ? [] : shutGates(put, known, item, place)),
  };
}

function applyChange(
  put: Put,
  { item, hash, known, place }: ReturnType<typeof candidateOf>,
  change: Change,
  issues: ImportIssue[],
): Outcome {
  if ('issue' in change) {
    issues.push(change.issue);
    return change.kind === 'duplicate' ? { outcome: 'refused' } : { outcome: change.kind, story: known };
  }
  if (change.kind === 'unchanged') return { outcome: 'unchanged', story: known };
  const epicId = item.epic === undefined ? undefined : put.epicsOf.idOf(item.epic);
  if (epicId === null) issues.push({ path: 'epic', message: 'The epic was deleted in Muster.' });
  const wanted: Wanted = { item, hash, place, epicId, issues };
  return change.kind === 'update' && known !== undefined ? update(put, known, wanted) : create(put, wanted);
}

/** The names of the gates that keep an existing story from the status that its item asks for. */
function shutGates(
  { policy, caller, specs, reviews }: Put,
  story: ImportedStory,
  { spec }: ImportItem,
  place: ImportPosition | null,
): string[] {
  if (place === null || place.status === story.status) return [];
  const content = spec ?? specBefore(story.id, specs.get(story.id)).content;
  const isNewSpec = spec !== undefined && spec !== specs.get(story.id)?.content;
  const judged = {
    ...story,
    has_spec: content.trim() !== '',
    spec_version: isNewSpec ? story.spec_version + 1 : story.spec_version,
  };
  const gates = gatesOf(judged, reviews.get(story.id) ?? noReviews, policy, caller);
  return unmetGates(place.status, policy, gates).map(({ gate }) => gate);
}

/** Notes the record of an item, its version, and the hash of the source's content, for the next import. */
function note(
  { notes }: Put,
  { item, hash }: Wanted,
  record: { id: string; version: number },
  isMade: boolean,
) {
  const { externalId, blockedBy = [] } = item;
  const { id: recordId, version } = record;
  notes.push({ kind: 'story', externalId, recordId, isMade, hash, version, blockedBy });
}

/**
 * Returns the upstream reference of a story that mirrors the item. If the story already mirrored the item, a
 * missing address and the state keep their values.
 */
function upstreamOf(
  { current: { provider }, at }: ImportBatch,
  { externalId, url }: ImportItem,
  before: StoryRow['upstream'] = null,
) {
  const same = before?.provider === provider && before.externalId === externalId ? before : null;
  return {
    ...{ provider, externalId, url: url ?? same?.url ?? null },
    ...{ state: same?.state ?? null, syncedAt: at },
  };
}

/** The columns of an existing story that a put may change. */
const followedColumns = [
  ...['title', 'description', 'epic_id', 'priority', 'labels', 'estimate', 'upstream'],
  ...['status', 'column_id', 'rank', 'completed_at', 'spec_version'],
];

function update(put: Put, story: ImportedStory, wanted: Wanted): Outcome {
  const { db, caller, at, specs } = put;
  const { item } = wanted;
  const after = followed(put, story, wanted);
  const before = specBefore(story.id, specs.get(story.id));
  const specRow =
    item.spec === undefined || item.spec === before.content
      ? null
      : nextSpec(before, { content: item.spec, author: caller.actor, note: null, at });
  const upstream = upstreamOf(put, item, story.upstream);
  if (after === story && specRow === null && upstream.url === (story.upstream?.url ?? null)) {
    note(put, wanted, story, false);
    return { outcome: 'unchanged', story };
  }
  const { work: _, ...row } = after;
  const written = {
    ...row,
    ...{ upstream, updated_at: at, version: story.version + 1 },
    spec_version: specRow?.version ?? story.spec_version,
  };
  if (specRow !== null) db.later(setSpec(specRow));
  db.later(stories.write(written, followedColumns));
  note(put, wanted, written, false);
  return { outcome: 'updated', story };
}

/** Returns the story with the fields of the item. Returns the same object if the item changes nothing. */
function followed(
  { at, rankAtEnd }: Put,
  story: ImportedStory,
  { item, place, epicId }: Wanted,
): ImportedStory {
  const { title, description, priority, labels, estimate, updatedAt } = item;
  const { changed } = stories.changed(story, { title, description, priority, labels, estimate, epicId }, at);
  // If the item names a column, the story moves to that column. If the item only has a status, the story
  // moves only if its status differs. Members choose among the columns of one status.
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

function create(put: Put, wanted: Wanted): Outcome {
  const { caller, at, current, board, members, rankAtEnd, made, specRows, assigned } = put;
  const { item, epicId, issues } = wanted;
  const { column, status } = wanted.place ?? firstPlace(board);
  const { createdAt = at, spec = '', assigneeEmail } = item;
  const story: StoryRow = {
    project_key: board.projectKey,
    ...stories.make(
      {
        ...{ id: idAt(createdAt), projectId: current.project_id, number: board.lastNumber + made.length + 1 },
        ...{ title: item.title, description: item.description, priority: item.priority, labels: item.labels },
        ...{ estimate: item.estimate, epicId, upstream: upstreamOf(put, item), createdBy: caller.actor },
        ...{ status, columnId: column?.id ?? null, rank: rankAtEnd(column) },
        specVersion: spec === '' ? 0 : 1,
        completedAt: isFinished(status) ? (item.updatedAt ?? at) : null,
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
  note(put, wanted, story, true);
  return { outcome: 'created', story };
}
