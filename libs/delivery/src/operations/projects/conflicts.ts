import { deliveryRegistry } from '@muster/delivery-registry';
import { handle, pathNotFound } from '@muster/runtime';
import { findMissingStory, readComparedStories, readOpenBlockers } from '../../data/conflicting-work.ts';
import { StepBudget } from '../../rules/glob-intersection.ts';
import { maxCompareSteps } from '../../rules/lock-limits.ts';
import { createWaitingCheck, findConflictingStories } from '../../rules/story-conflicts.ts';

const maxComparedStories = 1_000;
const maxPairs = 1_000;

export const conflicts = handle(deliveryRegistry.projects.conflicts, async ({ params, targetId, db }) => {
  const { storyIds } = params;
  const [missing, found] = await Promise.all([
    storyIds === undefined ? undefined : findMissingStory(db, targetId, storyIds),
    readComparedStories(db, targetId, storyIds, maxComparedStories + 1),
  ]);
  if (missing !== undefined) throw pathNotFound(`storyIds.${missing - 1}`);
  const stories = found.slice(0, maxComparedStories);
  const blockers =
    stories.length < 2
      ? []
      : await readOpenBlockers(
          db,
          stories.map(({ id }) => id),
        );
  const isWaiting = createWaitingCheck(blockers);
  const { pairs, isComplete } = findConflictingStories(stories, {
    isExcludedPair: (one, other) => isWaiting(one.id, other.id),
    stepBudget: new StepBudget(maxCompareSteps),
    maxPairs,
  });
  return {
    pairs: pairs.map(({ a, b, witness, source }) => ({
      ...{ a: { id: a.id, key: a.key }, b: { id: b.id, key: b.key } },
      ...{ witness, source },
    })),
    truncated: !isComplete || found.length > maxComparedStories,
  };
});
