import { maxPlanEpics, maxPlanItems } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { assignStoryIds, loadPlan, type LoadedPlan, resolveReferences } from './load-plan.ts';
import { planEpics } from './plan-epics.ts';
import { openStoriesAfter, orderPlan, requireNoCycle, requireOneLevel } from './plan-order.ts';
import { planStories, type PlannedStory } from './plan-stories.ts';
import { writePlan } from './write-plan.ts';

export const apply = handle(boardRegistry.plans.apply, async (context) => {
  const { params, reportNoChange } = context;
  const loaded = await loadPlan(context);
  const epicsOfPlan = planEpics(loaded);
  const storyIds = assignStoryIds(loaded);
  const references = await resolveReferences(loaded, storyIds, epicsOfPlan.epicIdByRef);
  const planned = planStories(loaded, storyIds, references);
  requireWithinLimits(loaded, planned, epicsOfPlan.epicIdByRef.size);
  requireOneLevel(loaded, planned);
  await requireNoCycle(loaded, planned, references);

  const refs = new Map([...storyIds].map(([ref, id]) => [id, ref]));
  for (const { change, storyId } of planned) if (change.action === 'remove') refs.delete(storyId);
  const order = orderPlan(openStoriesAfter(loaded, planned), refs);
  const isPreview = params.mode === 'preview';
  if (isPreview) reportNoChange();
  const plan = isPreview ? loaded.plan : await writePlan(loaded, epicsOfPlan, planned);
  return {
    plan: { id: plan?.id ?? null, ref: params.planRef, version: plan?.version ?? 0 },
    changes: planned.map(({ change }) => change),
    epics: epicsOfPlan.plannedEpics.map(({ change }) =>
      isPreview && change.action === 'create' ? { ...change, epicId: null } : change,
    ),
    ...order,
  };
});

function requireWithinLimits(
  { context: { refuse }, storedStories }: LoadedPlan,
  planned: readonly PlannedStory[],
  epicCount: number,
): void {
  const count = (action: PlannedStory['change']['action']) =>
    planned.filter(({ change }) => change.action === action).length;
  if (storedStories.size + count('create') - count('remove') > maxPlanItems)
    throw refuse('limit_exceeded', { limit: maxPlanItems, of: 'items' });
  if (epicCount > maxPlanEpics) throw refuse('limit_exceeded', { limit: maxPlanEpics, of: 'epics' });
}
