import { requireVersion } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { type MoveDestination, lockMove } from '../../data/ranks.ts';
import { moveStory, requireDestinationExists } from './move-story.ts';

export const reorder = handle(boardRegistry.stories.reorder, async (context) => {
  const { params, targetId, db, policy: askPolicy } = context;
  const { columnId, beforeStoryId, afterStoryId } = params;
  let anchor: MoveDestination['anchor'];
  if (beforeStoryId !== undefined) anchor = { ref: beforeStoryId, side: 'before' };
  if (afterStoryId !== undefined) anchor = { ref: afterStoryId, side: 'after' };
  const to = { columnId, anchor };
  const [policy, move] = await Promise.all([askPolicy(), lockMove(db, targetId, to)]);
  await requireDestinationExists(context, move, to);
  requireVersion(move.story, params.expectedVersion);
  return moveStory(context, move, policy, to);
});
