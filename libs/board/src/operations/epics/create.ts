import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { toEpicEventSubject, epics, toEpic } from '../../data/epics.ts';
import { projects } from '../../data/projects.ts';

export const create = handle(boardRegistry.epics.create, async ({ params, targetId, db, access, emit }) => {
  const [{ at }, project] = await Promise.all([access(), projects.get(db, targetId)]);
  const epic = epics.make({ ...params, projectId: project.id }, at);
  db.deferToCommit(epics.insert(epic));
  emit('epic.created', toEpicEventSubject(epic), {});
  return { epic: toEpic(epic) };
});
