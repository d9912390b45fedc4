import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { toEpicEventSubject, epics, toEpic } from '../../data/epics.ts';

export const update = handle(boardRegistry.epics.update, async ({ params, db, access, emit }) => {
  const { epicId, expectedVersion, ...wanted } = params;
  const [{ at }, epic] = await Promise.all([access(), epics.lock(db, epicId, expectedVersion)]);
  const { changed, fields } = epics.change(db, epic, wanted, at);
  if (fields.length > 0) emit('epic.updated', toEpicEventSubject(changed), { fields });
  return { epic: toEpic(changed) };
});
