import { internalOperations, movesToStart } from '@muster/contract';
import { handle } from '@muster/runtime';
import { listNextStories } from '../../data/next-stories.ts';
import { tryLockMove } from '../../data/ranks.ts';
import { lockStory } from '../../data/stories.ts';
import { findReasonsAgainstBeginning } from '../stories/against-beginning.ts';
import { moveStory } from '../stories/move-story.ts';

const inProgressDestination = { status: 'in_progress' } as const;

export const beginStory = handle(internalOperations.beginStory, async (context) => {
  const { params, targetId, caller, db, policy: askPolicy } = context;
  const { storyId, status, moves, isSentBack } = params;
  const isMoved = moves && movesToStart(status, isSentBack);
  const asked = { ...params, statuses: [status], storyIds: [storyId], limit: 1 };
  const [policy, move, , [row]] = await Promise.all([
    askPolicy(),
    isMoved ? tryLockMove(db, storyId, inProgressDestination) : null,
    isMoved ? null : lockStory(db, storyId),
    listNextStories(db, caller, targetId, asked),
  ]);
  if (move === undefined) return { begins: false, reasons: [], moved: true };
  if (row === undefined) return { begins: false, reasons: [], moved: false };
  const reasons = findReasonsAgainstBeginning(row, policy, isMoved);
  const begins = reasons.length === 0;
  if (begins && move !== null) await moveStory(context, move, policy, inProgressDestination);
  return { begins, reasons, moved: false };
});
