import { requireVersion } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { lockMove } from '../../data/ranks.ts';
import { toStory } from '../../data/stories.ts';
import { moveStory, requireDestinationExists } from './move-story.ts';

export const updateStatus = handle(boardRegistry.stories.updateStatus, async (context) => {
  const { params, targetId, db, policy: askPolicy } = context;
  const { status, columnId, expectedVersion } = params;
  const to = { status, columnId };
  const [policy, move] = await Promise.all([askPolicy(), lockMove(db, targetId, to)]);
  const { story } = move;
  await requireDestinationExists(context, move, to);
  requireVersion(story, expectedVersion);
  if (status === story.status && (columnId === undefined || columnId === story.column_id))
    return { story: toStory(story), warnings: [] };
  return moveStory(context, move, policy, to);
});
