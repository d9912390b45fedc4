import { boardRegistry } from '@muster/board-registry';
import { handle, requireProject } from '@muster/runtime';
import { listViews } from '../../data/views.ts';

export const list = handle(boardRegistry.views.list, async ({ params, caller, db }) => {
  const [page] = await Promise.all([
    listViews(db, caller, params),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return page;
});
