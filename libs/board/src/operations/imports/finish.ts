import { type Db } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { lockImportBoard } from '../../data/import-board.ts';
import { deleteColumns, findBoardColumns } from '../../data/import-archive.ts';
import { findDependencies, findResolvableDependencies, insertDependencies } from '../../data/import-waits.ts';
import { findParentCandidates, setParents } from '../../data/import-parents.ts';
import { setColumnPositions } from '../../data/columns.ts';
import { type ImportRow, toImportEventSubject, imports, toImport } from '../../data/imports.ts';
import { findMovedColumns, isRequiredColumn } from '../../rules/columns.ts';
import { addDependenciesWithoutCycles } from '../../rules/import-merge.ts';
import { planParents } from '../../rules/import-parents.ts';

/** The maximum number of unresolved dependencies in the answer. No one would read a longer list. */
const maxUnresolvedDependencies = 200;

export const finish = handle(boardRegistry.imports.finish, async ({ targetId, db, access, emit, refuse }) => {
  const [{ at }, current] = await Promise.all([access(), imports.lock(db, targetId)]);
  if (current.state === 'reverted') throw refuse('already_resolved', { state: current.state });
  if (current.state === 'finished') return { import: toImport(current), leftOut: [], parentsLeftOut: [] };

  // lockImportBoard locks the project's counters, so no other call can close a cycle of dependencies or nest
  // stories at the same time.
  const [, wanted, there, candidates] = await Promise.all([
    lockImportBoard(db, current.project_id),
    findResolvableDependencies(db, current),
    findDependencies(db, current.project_id),
    findParentCandidates(db, current),
  ]);
  const found = wanted.flatMap(({ storyId, blockerId, ...names }) =>
    blockerId === null ? [] : [{ storyId, blockerId, ...names }],
  );
  const { addedDependencies: added, cyclicDependencies: circles } = addDependenciesWithoutCycles(
    there,
    found,
  );
  if (added.length > 0) db.deferToCommit(insertDependencies(current.project_id, added));
  const parents = planParents(candidates);
  if (parents.added.length > 0)
    for (const query of setParents(current, parents.added, at)) db.deferToCommit(query);
  const leftOut = [
    ...wanted
      .filter(({ blockerId }) => blockerId === null)
      .map((wait) => ({ wait, reason: 'No imported item of this provider has this id.' })),
    ...found
      .filter((wait) => circles.has(wait))
      .map((wait) => ({ wait, reason: 'The story would end up blocking itself.' })),
  ];
  if (current.into_empty_project) await removeUnusedColumns(db, current, at);
  const finished = imports.save(db, current, { state: 'finished', finished_at: at }, at);
  emit('import.finished', toImportEventSubject(current), { blockers: added.length });
  return {
    import: toImport(finished),
    leftOut: leftOut
      .slice(0, maxUnresolvedDependencies)
      .map(({ wait: { externalId, blockedBy }, reason }) => ({ externalId, blockedBy, reason })),
    parentsLeftOut: parents.skipped.slice(0, maxUnresolvedDependencies),
  };
});

/**
 * Deletes the columns that the project had before its archive was imported, unless they have stories or the board
 * needs them. The others get consecutive positions.
 */
async function removeUnusedColumns(db: Db, importRow: ImportRow, at: string): Promise<void> {
  const columns = await findBoardColumns(db, importRow);
  const used = columns.filter(({ is_unused }) => !is_unused);
  const unused = columns.filter((column) => column.is_unused && !isRequiredColumn(used, column));
  if (unused.length > 0) db.deferToCommit(deleteColumns(unused.map(({ id }) => id)));
  const moved = findMovedColumns(columns.filter((column) => !unused.includes(column)));
  if (moved.length > 0) db.deferToCommit(setColumnPositions(moved, at));
}
