import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getStory, toStory } from '../../data/stories.ts';
import { readAgentResponse } from '../../data/story-cards.ts';

export const get = handle(registry.stories.get, async ({ targetId, db }) => {
  const [story, agentResponse] = await Promise.all([getStory(db, targetId), readAgentResponse(db, targetId)]);
  return { story: toStory(story), agentResponse };
});
