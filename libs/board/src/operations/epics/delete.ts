import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutEpic, deleteEpic, epics, lockStoriesOfEpic } from '../../data/epics.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(registry.epics.delete, async ({ params, db, emit }) => {
  const [, epic] = await Promise.all([
    db.all(lockStoriesOfEpic(params.epicId)),
    epics.lock(db, params.epicId),
  ]);
  for (const query of deleteEpic(epic.id)) db.later(query);
  emit('epic.deleted', aboutEpic(epic), {});
  return { deleted: true as const };
});
