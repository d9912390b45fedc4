import { internalOperations } from '@muster/contract';
import { handle } from '@muster/runtime';
import { toLock } from '../../data/locks.ts';
import { maxCollisions, readWorkNearStory } from '../../data/work-around.ts';
import { findCollisions } from '../../rules/collisions.ts';
import { StepBudget } from '../../rules/glob-intersection.ts';
import { maxCompareSteps } from '../../rules/lock-limits.ts';
import { undefinedIfTooComplex } from '../../rules/lock-resources.ts';

export const workAround = handle(internalOperations.workAround, async ({ targetId, db }) => {
  const { locks, hasMoreLocks, ownFiles, otherWork, hasMoreWork } = await readWorkNearStory(db, targetId);
  const around = locks.map((row) => ({ ...row, storyId: row.story_id }));
  // A result that is too expensive to compute is reported as incomplete, never as free of collisions.
  const found = undefinedIfTooComplex(() =>
    findCollisions(
      { files: ownFiles },
      { locks: around, otherWorks: otherWork },
      new StepBudget(maxCompareSteps),
      maxCollisions,
    ),
  );
  return {
    locks: locks.map(toLock),
    moreLocks: hasMoreLocks,
    collisions: found?.collisions ?? [],
    moreCollisions: found === undefined || found.more || hasMoreLocks || hasMoreWork,
  };
});
