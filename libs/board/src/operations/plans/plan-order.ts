/** Checks the dependencies and parents that a board would have after a plan, and orders the plan's stories. */
import { findStoryKeys } from '../../data/plan-stories.ts';
import { findCycle, type OpenStory, orderStories } from '../../rules/plan-graph.ts';
import { isFinished } from '../../rules/workflow.ts';
import { type ItemReferences, type LoadedPlan } from './load-plan.ts';
import { type PlannedStory } from './plan-stories.ts';

const existsAfterPlan = ({ after }: PlannedStory): boolean => after !== undefined;

/** The order of the plan's open stories, by their refs. */
interface PlanOrder {
  readonly waves: string[][];
  readonly criticalPath: string[];
}

/** Orders the stories that remain in the plan. `refs` maps the ids of these stories to their refs. */
export function orderPlan(openStories: readonly OpenStory[], refs: ReadonlyMap<string, string>): PlanOrder {
  const { waves, criticalPath } = orderStories(openStories, (id) => refs.has(id));
  const toRefs = (ids: readonly string[]): string[] => ids.flatMap((id) => refs.get(id) ?? []);
  return { waves: waves.map(({ storyIds }) => toRefs(storyIds)), criticalPath: toRefs(criticalPath) };
}

/** Returns the open stories of the project after the plan: first those of the plan, in its order. */
export function openStoriesAfter({ openStories }: LoadedPlan, planned: readonly PlannedStory[]): OpenStory[] {
  const changed = new Set(planned.map(({ storyId }) => storyId));
  const ofPlan = planned.flatMap(({ storyId: id, after, blockerIds }) =>
    after === undefined || isFinished(after.status)
      ? []
      : [{ id, estimate: after.estimate, blockerIds, parentId: after.parent_id }],
  );
  return [...ofPlan, ...openStories.filter(({ id }) => !changed.has(id))];
}

/** Throws nested_parent or has_children if the plan would nest stories more than one level deep. */
export function requireOneLevel(
  { context: { refuse }, related }: LoadedPlan,
  planned: readonly PlannedStory[],
): void {
  const parentOf = new Map<string, string>();
  for (const { id, parent_id: parentId } of related) if (parentId !== null) parentOf.set(id, parentId);
  for (const { storyId, after } of planned) {
    if (after === undefined) continue;
    if (after.parent_id === null) parentOf.delete(storyId);
    else parentOf.set(storyId, after.parent_id);
  }
  const changed = planned.flatMap(({ ref, storyId, after, change }) =>
    after?.parent_id != null && change.fields.includes('parentRef')
      ? [{ ref, storyId, parentId: after.parent_id }]
      : [],
  );
  for (const { ref, storyId, parentId } of changed) {
    const parentOfParent = parentOf.get(parentId) ?? null;
    if (parentId === storyId || parentOfParent !== null)
      throw refuse('nested_parent', { ref, parentId, parentOfParent });
  }
  const childIds = Map.groupBy(parentOf.keys(), (childId) => parentOf.get(childId));
  for (const { ref, storyId } of changed)
    if (childIds.has(storyId)) throw refuse('has_children', { ref, children: childIds.get(storyId) });
}

/**
 * Throws dependency_cycle if the items wait for each other, or if stories would after the plan. A parent waits
 * for its children.
 */
export async function requireNoCycle(
  loaded: LoadedPlan,
  planned: readonly PlannedStory[],
  references: ReadonlyMap<string, ItemReferences>,
): Promise<void> {
  const { context, related, items, storedStories } = loaded;
  const remaining = planned.filter(existsAfterPlan);
  const idByRef = new Map(planned.map(({ ref, storyId }) => [ref, storyId]));
  const asPlanned = items.map(({ ref }) => ({
    id: idByRef.get(ref) ?? ref,
    blockers: references.get(ref)?.dependsOn ?? [],
  }));

  const blockersById = new Map<string, string[]>();
  const addBlocker = (storyId: string, blockerId: string): void => {
    const blockers = blockersById.get(storyId);
    if (blockers === undefined) blockersById.set(storyId, [blockerId]);
    else blockers.push(blockerId);
  };
  const ofPlan = new Set(remaining.map(({ storyId }) => storyId));
  for (const { id, blocked_by: blockerIds } of related)
    if (!ofPlan.has(id)) for (const blockerId of blockerIds) addBlocker(id, blockerId);
  for (const { storyId, blockerIds, after } of remaining) {
    for (const blockerId of blockerIds) addBlocker(storyId, blockerId);
    if (after?.parent_id != null) addBlocker(after.parent_id, storyId);
  }
  const cycle =
    findCycle(asPlanned) ?? findCycle([...blockersById].map(([id, blockers]) => ({ id, blockers })));
  if (cycle === undefined) return;
  const refs = new Map([
    ...[...storedStories.values()].map((row) => [row.record_id, row.ref] as const),
    ...planned.map(({ storyId, ref }) => [storyId, ref] as const),
  ]);
  const keys = await findStoryKeys(
    context.db,
    cycle.filter((id) => !refs.has(id)),
  );
  throw context.refuse('dependency_cycle', { cycle: cycle.map((id) => refs.get(id) ?? keys.get(id) ?? id) });
}
