import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { findOpenStories, findStoryKeys } from '../../data/plan-stories.ts';
import { findPlanStoryIds } from '../../data/plans.ts';
import { findCardsById, requireInProject } from '../../data/waves.ts';
import { orderStories } from '../../rules/plan-graph.ts';

export const waves = handle(boardRegistry.projects.waves, async ({ params, targetId, db }) => {
  const { epicId, planId, limit } = params;
  const [openStories, planStoryIds] = await Promise.all([
    findOpenStories(db, targetId),
    planId === undefined ? undefined : findPlanStoryIds(db, targetId, planId),
    epicId === undefined
      ? undefined
      : requireInProject(db, 'epics', targetId, { id: epicId, path: 'epicId' }),
    planId === undefined
      ? undefined
      : requireInProject(db, 'plans', targetId, { id: planId, path: 'planId' }),
  ]);
  const byId = new Map(openStories.map((story) => [story.id, story]));
  const order = orderStories(
    openStories,
    (id) => (epicId === undefined || byId.get(id)?.epicId === epicId) && (planStoryIds?.has(id) ?? true),
  );
  const shown = order.waves.flatMap(({ storyIds }) => storyIds).slice(0, limit);
  const [cards, keys] = await Promise.all([findCardsById(db, shown), findStoryKeys(db, order.criticalPath)]);
  return {
    waves: order.waves.map(({ index, storyIds }) => ({
      index,
      count: storyIds.length,
      stories: storyIds.flatMap((id) => cards.get(id) ?? []),
    })),
    criticalPath: order.criticalPath.flatMap((id) => keys.get(id) ?? []),
    blocked: order.blockedCount,
  };
});
