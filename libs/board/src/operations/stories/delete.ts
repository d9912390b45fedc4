import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { lockMove } from '../../data/ranks.ts';
import { aboutStory, deleteStory } from '../../data/stories.ts';

// `delete` is a reserved word.
export const deleteOperation = handle(registry.stories.delete, async ({ params, caller, db, emit }) => {
  // It leaves its column's count, and the canceled ones', as a move does.
  const { story } = await lockMove(db, caller.orgId, params.storyId, {});
  for (const query of deleteStory(caller.orgId, story.id)) db.later(query);
  emit('story.deleted', aboutStory(story), {});
  return { deleted: true as const };
});
