import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getStory, toStory } from '../../data/stories.ts';
import { findStoryRelations } from '../../data/story-relations.ts';

export const get = handle(boardRegistry.stories.get, async ({ targetId, caller, db }) => {
  const [story, relations] = await Promise.all([
    getStory(db, targetId),
    findStoryRelations(db, targetId, caller.memberId),
  ]);
  return { story: toStory(story), ...relations };
});
