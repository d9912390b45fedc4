import { badRequest, type ImportInput, type ImportItem, issueAt, orgRank } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { isAdmin } from '@muster/organizations';
import { findMembersByEmail, findStoriesByExternalId, lockImportBoard } from '../../data/import-board.ts';
import {
  toImportEventSubject,
  findImportItems,
  imports,
  storeImportedItems,
  forceCustomPlans,
  toImport,
} from '../../data/imports.ts';
import { type ArchivePutResult, putArchive } from './archive/put-archive.ts';
import { type ImportBatch } from './import-batch.ts';
import { commentKeysOf, putComments } from './put-comments.ts';
import { putStories } from './put-stories.ts';

const isTrackerItem = (item: ImportInput): item is ImportItem =>
  item.type === undefined || item.type === 'item';

/** The part of a batch that is known before the items are looked up. */
type PutCall = Pick<ImportBatch, 'db' | 'caller' | 'at' | 'policy' | 'current' | 'writesForMembers'>;

/** Imports items of a tracker: stories with their epics and comments. */
async function putItems(
  call: PutCall,
  items: readonly ImportItem[],
  theirs: boolean,
): Promise<ArchivePutResult> {
  const { db, current } = call;
  const { project_id: projectId } = current;
  const emails = items.flatMap(({ assigneeEmail, comments = [] }) => [
    ...(assigneeEmail === undefined ? [] : [assigneeEmail]),
    ...comments.flatMap(({ authorEmail }) => authorEmail ?? []),
  ]);
  const externalIds = items.map(({ externalId }) => externalId);
  const [board, noted, mirrors, members] = await Promise.all([
    lockImportBoard(db, projectId),
    findImportItems(db, current, {
      story: externalIds,
      epic: items.flatMap(({ epic }) => epic?.externalId ?? []),
      comment: items.flatMap(commentKeysOf),
    }),
    findStoriesByExternalId(db, projectId, current.provider, externalIds),
    findMembersByEmail(db, projectId, emails),
  ]);
  const batch = { ...call, board, noted, mirrors, members };
  const stories = await putStories(batch, items, theirs);
  const comments = await putComments(batch, stories.placed);
  const results = stories.results.map((result) => {
    const issues = [...result.issues, ...(comments.issues.get(result.externalId) ?? [])];
    const isNew = result.outcome === 'unchanged' && comments.writtenKeys.has(result.externalId);
    return { ...result, issues, outcome: isNew ? ('updated' as const) : result.outcome };
  });
  return { results, importedItems: [...stories.notes, ...comments.importedItems] };
}

export const put = handle(boardRegistry.imports.put, async (context) => {
  const { params, targetId, caller, db, access, emit, refuse, policy: askPolicy } = context;
  const { items, theirs } = params;
  const [{ at, actingRole }, current, policy] = await Promise.all([
    access(),
    imports.lock(db, targetId),
    askPolicy(),
    forceCustomPlans(db),
  ]);
  if (current.state !== 'open') throw refuse('already_resolved', { state: current.state });

  const writesForMembers = orgRank(actingRole) >= orgRank('admin');
  const call = { db, caller, at, policy, current, writesForMembers };
  const trackerItems = items.filter(isTrackerItem);
  if (current.provider !== 'muster' && trackerItems.length < items.length)
    throw badRequest('The parameters are not valid.', [
      issueAt(['items'], 'lines of an archive need an import of provider muster'),
    ]);
  const { results, importedItems: notes } =
    current.provider === 'muster'
      ? await putArchive({ ...call, writesForOrganization: isAdmin(caller, actingRole) }, items)
      : await putItems(call, trackerItems, theirs);
  for (const query of storeImportedItems(current, notes, at)) db.deferToCommit(query);

  const count = (outcome: (typeof results)[number]['outcome']): number =>
    results.filter((result) => result.outcome === outcome).length;
  const counted = imports.save(
    db,
    current,
    {
      created: current.created + count('created'),
      updated: current.updated + count('updated'),
      unchanged: current.unchanged + count('unchanged'),
      kept: current.kept + count('kept'),
      refused: current.refused + count('refused'),
    },
    at,
  );
  // One event covers all stories of the put. No event is emitted if the put changed nothing.
  const [created, updated] = [count('created'), count('updated')];
  if (created + updated > 0) emit('import.stored', toImportEventSubject(current), { created, updated });
  return { import: toImport(counted), results: [...results] };
});
