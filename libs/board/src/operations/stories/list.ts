import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listStories } from '../../data/story-lists.ts';

export const list = handle(boardRegistry.stories.list, ({ params, targetId, db }) =>
  listStories(db, targetId, params),
);
