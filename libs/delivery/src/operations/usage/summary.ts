import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, requireProject, requireStory } from '@muster/runtime';
import { sumUsage } from '../../data/usage-sums.ts';
import { daysOfRange } from '../../rules/day-range.ts';

export const summary = handle(deliveryRegistry.usage.summary, async ({ params, caller, db }) => {
  const { projectId, storyId } = params;
  const range = daysOfRange(params);
  const [page] = await Promise.all([
    sumUsage(db, caller, { ...params, ...range }),
    projectId === undefined ? undefined : requireProject(db, caller, projectId),
    storyId === undefined ? undefined : requireStory(db, caller, storyId),
  ]);
  return page;
});
