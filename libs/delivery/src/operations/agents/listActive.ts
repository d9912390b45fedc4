import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, requireProject } from '@muster/runtime';
import { listActiveRuns } from '../../data/active-runs.ts';

export const listActive = handle(deliveryRegistry.agents.listActive, async ({ params, caller, db }) => {
  const [page] = await Promise.all([
    listActiveRuns(db, caller, params),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return page;
});
