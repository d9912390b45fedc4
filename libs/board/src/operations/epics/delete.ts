import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutEpic, deleteEpic, lockEpic, lockStoriesOfEpic } from '../../data/epics.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(registry.epics.delete, async ({ params, caller, db, emit }) => {
  const [, epic] = await Promise.all([
    db.all(lockStoriesOfEpic(caller.orgId, params.epicId)),
    lockEpic(db, caller.orgId, params.epicId),
  ]);
  for (const query of deleteEpic(caller.orgId, epic.id)) db.later(query);
  emit('epic.deleted', aboutEpic(epic), {});
  return { deleted: true as const };
});
