import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { lockDeletedStory, lockRestoredPosition, restoreStory } from '../../data/deleted-stories.ts';
import { getStory, toStory, toStoryEventSubject } from '../../data/stories.ts';
import { checkWipLimit } from './room.ts';

export const restore = handle(boardRegistry.stories.restore, async (context) => {
  const { targetId, db, policy: askPolicy, emit, refuse } = context;
  const [policy, deleted] = await Promise.all([askPolicy(), lockDeletedStory(db, targetId)]);
  if (deleted.is_number_taken) throw refuse('already_exists');
  const place = await lockRestoredPosition(db, deleted);
  const warnings = place.column === null ? [] : checkWipLimit(refuse, place.column, 1, policy);
  const [related, story] = await Promise.all([restoreStory(db, deleted.id, place), getStory(db, deleted.id)]);
  emit('story.restored', toStoryEventSubject(story), { status: story.status });
  for (const { field, ...other } of related)
    emit('story.updated', toStoryEventSubject(other), { fields: [field] });
  return { story: toStory(story), warnings };
});
