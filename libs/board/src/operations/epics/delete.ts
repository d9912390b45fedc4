import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutEpic, deleteEpic, lockWithStories } from '../../data/epics.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(registry.epics.delete, async ({ params, db, emit }) => {
  const epic = await lockWithStories(db, params.epicId);
  for (const query of deleteEpic(epic.id)) db.later(query);
  emit('epic.deleted', aboutEpic(epic), {});
  return { deleted: true as const };
});
