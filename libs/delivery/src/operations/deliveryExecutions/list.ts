import { registry } from '@muster/registry';
import { handle, requireProject } from '@muster/runtime';
import { listExecutions } from '../../data/execution-lists.ts';

export const list = handle(registry.deliveryExecutions.list, async ({ params, caller, db }) => {
  const [page] = await Promise.all([
    listExecutions(db, caller, params),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return page;
});
