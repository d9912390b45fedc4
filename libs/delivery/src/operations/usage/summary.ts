import { registry } from '@muster/registry';
import { badRequest, handle, requireProject, requireStory } from '@muster/runtime';
import { sumUsage } from '../../data/usage-sums.ts';

const dayMillis = 24 * 60 * 60 * 1_000;
const defaultDays = 30;

export const summary = handle(registry.usage.summary, async ({ params, caller, db }) => {
  const { projectId, storyId } = params;
  const to = params.to ?? new Date().toISOString();
  const from = params.from ?? new Date(Date.parse(to) - (defaultDays - 1) * dayMillis).toISOString();
  if (Date.parse(from) > Date.parse(to))
    throw badRequest('The range ends before it begins.', [
      { path: 'to', message: 'must not be before from' },
    ]);
  const [page] = await Promise.all([
    sumUsage(db, caller, { ...params, from, to }),
    projectId === undefined ? undefined : requireProject(db, caller, projectId),
    storyId === undefined ? undefined : requireStory(db, caller, storyId),
  ]);
  return page;
});
