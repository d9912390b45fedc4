import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getStoryWithRelations } from '../../data/story-relations.ts';
import { toStory } from '../../data/stories.ts';

export const get = handle(boardRegistry.stories.get, async ({ targetId, caller, db }) => {
  const story = await getStoryWithRelations(db, targetId, caller.memberId);
  const { agentResponse, links, subscribed } = story;
  return {
    story: toStory(story),
    agentResponse,
    parent: links?.parent?.[0] ?? null,
    children: links?.children ?? [],
    blockedBy: links?.blockedBy ?? [],
    blocks: links?.blocks ?? [],
    subscribed,
  };
});
