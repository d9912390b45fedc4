import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, requireProject, requireStory } from '@muster/runtime';
import { listRuns } from '../../../data/run-lists.ts';

export const list = handle(deliveryRegistry.agents.runs.list, async ({ params, caller, db }) => {
  const { projectId, storyId } = params;
  const [page] = await Promise.all([
    listRuns(db, caller, params),
    projectId === undefined ? undefined : requireProject(db, caller, projectId),
    storyId === undefined ? undefined : requireStory(db, caller, storyId),
  ]);
  return page;
});
