import { deleteUnusedAgents, deleteUnusedTeams, isAdmin } from '@muster/organizations';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { disableStoryCountTriggers } from '../../data/counts.ts';
import { lockImportBoard } from '../../data/import-board.ts';
import { deleteNotesOfDeleted, findCreatedOrganizationRecords } from '../../data/import-organization.ts';
import { lockCreatedStories, deleteImportedStories } from '../../data/import-undo.ts';
import { toImportEventSubject, imports, toImport } from '../../data/imports.ts';

/** The maximum number of kept stories in the answer. No one would read a longer list. */
const maxListedKeptStories = 200;

export const undo = handle(boardRegistry.imports.undo, async ({ targetId, caller, db, access, emit }) => {
  const [{ at, actingRole }, current] = await Promise.all([access(), imports.lock(db, targetId)]);
  if (current.state === 'reverted') return { import: toImport(current), removed: 0, kept: [] };

  const { projectKey } = await lockImportBoard(db, current.project_id);
  const deletesForOrganization = isAdmin(caller, actingRole);
  const made = await lockCreatedStories(db, current);
  const created = deletesForOrganization ? await findCreatedOrganizationRecords(db, current) : [];
  const ids = made.filter(({ touched }) => !touched).map(({ id }) => id);
  db.deferToCommit(disableStoryCountTriggers());
  for (const query of deleteImportedStories(current, ids, deletesForOrganization)) db.deferToCommit(query);
  if (created.length > 0) {
    const teams = created.filter(({ kind }) => kind === 'team');
    const agents = created.filter(({ kind }) => kind === 'agent');
    // A role in the project is a use as long as the project keeps stories of the import.
    db.deferToCommit(deleteUnusedTeams(teams, ids.length === made.length ? current.project_id : null));
    db.deferToCommit(deleteUnusedAgents(agents.map(({ id }) => id)));
    db.deferToCommit(deleteNotesOfDeleted(created.map(({ id }) => id)));
  }
  const reverted = imports.save(db, current, { state: 'reverted', reverted_at: at }, at);
  emit('import.reverted', toImportEventSubject(current), { removed: ids.length });
  return {
    import: toImport(reverted),
    removed: ids.length,
    kept: made
      .filter(({ touched }) => touched)
      .slice(0, maxListedKeptStories)
      .map(({ id, externalId, number }) => ({ externalId, storyId: id, key: `${projectKey}-${number}` })),
  };
});
