import { registry } from '@muster/registry';
import { handle, requireProject } from '@muster/runtime';
import { listViews } from '../../data/views.ts';

export const list = handle(registry.views.list, async ({ params, caller, db }) => {
  const [page] = await Promise.all([
    listViews(db, caller, params),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return page;
});
