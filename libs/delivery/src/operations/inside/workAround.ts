import { inside } from '@muster/registry';
import { handle } from '@muster/runtime';
import { toLock } from '../../data/locks.ts';
import { mostCollisions, readWorkAround } from '../../data/work-around.ts';
import { collisionsOf } from '../../rules/collisions.ts';
import { Effort } from '../../rules/glob-intersection.ts';
import { mostSteps } from '../../rules/lock-limits.ts';
import { unlessTooIntricate } from '../../rules/lock-resources.ts';

export const workAround = handle(inside.workAround, async ({ targetId, db }) => {
  const { locks, moreLocks, ownFiles, works, moreWorks } = await readWorkAround(db, targetId);
  const around = locks.map((row) => ({ ...row, storyId: row.story_id }));
  // A result that is too expensive to compute is reported as incomplete, never as free of collisions.
  const found = unlessTooIntricate(() =>
    collisionsOf({ files: ownFiles }, { locks: around, works }, new Effort(mostSteps), mostCollisions),
  );
  return {
    locks: locks.map(toLock),
    moreLocks,
    collisions: found?.collisions ?? [],
    moreCollisions: found === undefined || found.more || moreLocks || moreWorks,
  };
});
