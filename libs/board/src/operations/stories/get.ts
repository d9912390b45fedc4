import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getStory, toStory } from '../../data/stories.ts';

export const get = handle(registry.stories.get, async ({ targetId, db }) => ({
  story: toStory(await getStory(db, targetId)),
}));
