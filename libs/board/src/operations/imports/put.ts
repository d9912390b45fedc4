import { orgRank, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findMembersByEmail, findStoriesByExternalId, lockImportBoard } from '../../data/import-board.ts';
import {
  toImportEventSubject,
  findImportItems,
  imports,
  storeImportedItems,
  forceCustomPlans,
  toImport,
} from '../../data/imports.ts';
import { commentKeysOf, putComments } from './put-comments.ts';
import { putStories } from './put-stories.ts';

export const put = handle(registry.imports.put, async (context) => {
  const { params, targetId, caller, db, access, emit, refuse, policy: askPolicy } = context;
  const { items, theirs } = params;
  const [{ at, actingRole }, current] = await Promise.all([
    access(),
    imports.lock(db, targetId),
    forceCustomPlans(db),
  ]);
  if (current.state !== 'open') throw refuse('already_resolved', { state: current.state });
  const { project_id: projectId } = current;

  const emails = items.flatMap(({ assigneeEmail, comments = [] }) => [
    ...(assigneeEmail === undefined ? [] : [assigneeEmail]),
    ...comments.flatMap(({ authorEmail }) => authorEmail ?? []),
  ]);
  const externalIds = items.map(({ externalId }) => externalId);
  const [board, noted, mirrors, members, policy] = await Promise.all([
    lockImportBoard(db, projectId),
    findImportItems(db, current, {
      story: externalIds,
      epic: items.flatMap(({ epic }) => epic?.externalId ?? []),
      comment: items.flatMap(commentKeysOf),
    }),
    findStoriesByExternalId(db, projectId, current.provider, externalIds),
    findMembersByEmail(db, projectId, emails),
    askPolicy(),
  ]);
  const writesForMembers = orgRank(actingRole) >= orgRank('admin');
  const meeting = {
    db,
    caller,
    at,
    policy,
    current,
    board,
    noted,
    mirrors,
    members,
    writesForMembers,
  };
  const stories = await putStories(meeting, items, theirs);
  const comments = await putComments(meeting, stories.placed);
  const notes = [...stories.notes, ...comments.notes];
  for (const query of storeImportedItems(current, notes, at)) db.deferToCommit(query);

  const results = stories.results.map((result) => {
    const issues = [...result.issues, ...(comments.issues.get(result.externalId) ?? [])];
    const isNew = result.outcome === 'unchanged' && comments.written.has(result.externalId);
    return { ...result, issues, outcome: isNew ? ('updated' as const) : result.outcome };
  });
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
  return { import: toImport(counted), results };
});
