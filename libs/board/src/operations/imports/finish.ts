import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { openImportBoard } from '../../data/import-board.ts';
import { findWaits, findWanted, insertWaits } from '../../data/import-waits.ts';
import { aboutImport, imports, toImport } from '../../data/imports.ts';
import { addWaits } from '../../rules/import-merge.ts';

/** The maximum number of unresolved dependencies in the answer. No one would read a longer list. */
const mostNamed = 200;

export const finish = handle(registry.imports.finish, async ({ targetId, db, access, emit, refuse }) => {
  const [{ at }, current] = await Promise.all([access(), imports.lock(db, targetId)]);
  if (current.state === 'reverted') throw refuse('already_resolved', { state: current.state });
  if (current.state === 'finished') return { import: toImport(current), leftOut: [] };

  // openImportBoard locks the project's counters, so no other call can close a cycle of dependencies at the
  // same time.
  const [, wanted, there] = await Promise.all([
    openImportBoard(db, current.project_id),
    findWanted(db, current),
    findWaits(db, current.project_id),
  ]);
  const found = wanted.flatMap(({ storyId, blockerId, ...names }) =>
    blockerId === null ? [] : [{ storyId, blockerId, ...names }],
  );
  const { added, circles } = addWaits(there, found);
  if (added.length > 0) db.later(insertWaits(current.project_id, added));
  const leftOut = [
    ...wanted
      .filter(({ blockerId }) => blockerId === null)
      .map((wait) => ({ wait, reason: 'No imported item of this provider has this id.' })),
    ...found
      .filter((wait) => circles.has(wait))
      .map((wait) => ({ wait, reason: 'The story would end up blocking itself.' })),
  ];
  const finished = imports.save(db, current, { state: 'finished', finished_at: at }, at);
  emit('import.finished', aboutImport(current), { blockers: added.length });
  return {
    import: toImport(finished),
    leftOut: leftOut
      .slice(0, mostNamed)
      .map(({ wait: { externalId, blockedBy }, reason }) => ({ externalId, blockedBy, reason })),
  };
});
