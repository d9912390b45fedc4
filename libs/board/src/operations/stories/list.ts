import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listStories } from '../../data/story-lists.ts';

export const list = handle(registry.stories.list, ({ params, targetId, db }) =>
  listStories(db, targetId, params),
);
