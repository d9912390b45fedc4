import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { findRelatedStories } from '../../data/related-stories.ts';
import { getStory, toStory } from '../../data/stories.ts';
import { readAgentResponse } from '../../data/story-cards.ts';

export const get = handle(registry.stories.get, async ({ targetId, db }) => {
  const [story, agentResponse, { parent, children, blockedBy, blocks }] = await Promise.all([
    getStory(db, targetId),
    readAgentResponse(db, targetId),
    findRelatedStories(db, targetId),
  ]);
  return { story: toStory(story), agentResponse, parent, children, blockedBy, blocks };
});
