import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { toEpicEventSubject, deleteEpic, lockEpicWithStories } from '../../data/epics.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(boardRegistry.epics.delete, async ({ params, db, emit }) => {
  const epic = await lockEpicWithStories(db, params.epicId);
  for (const query of deleteEpic(epic.id)) db.deferToCommit(query);
  emit('epic.deleted', toEpicEventSubject(epic), {});
  return { deleted: true as const };
});
