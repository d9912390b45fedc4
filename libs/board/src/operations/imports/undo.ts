import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { countByHand } from '../../data/counts.ts';
import { openImportBoard } from '../../data/import-board.ts';
import { lockMadeStories, removeStories } from '../../data/import-undo.ts';
import { aboutImport, imports, toImport } from '../../data/imports.ts';

/** The maximum number of kept stories in the answer. No one would read a longer list. */
const mostNamed = 200;

export const undo = handle(registry.imports.undo, async ({ targetId, db, access, emit }) => {
  const [{ at }, current] = await Promise.all([access(), imports.lock(db, targetId)]);
  if (current.state === 'reverted') return { import: toImport(current), removed: 0, kept: [] };

  const { projectKey } = await openImportBoard(db, current.project_id);
  const made = await lockMadeStories(db, current);
  const ids = made.filter(({ touched }) => !touched).map(({ id }) => id);
  db.later(countByHand());
  for (const query of removeStories(current, ids)) db.later(query);
  const reverted = imports.save(db, current, { state: 'reverted', reverted_at: at }, at);
  emit('import.reverted', aboutImport(current), { removed: ids.length });
  return {
    import: toImport(reverted),
    removed: ids.length,
    kept: made
      .filter(({ touched }) => touched)
      .slice(0, mostNamed)
      .map(({ id, externalId, number }) => ({ externalId, storyId: id, key: `${projectKey}-${number}` })),
  };
});
