import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listDeletedStories } from '../../data/deleted-stories.ts';

export const listDeleted = handle(boardRegistry.stories.listDeleted, ({ params, targetId, db }) =>
  listDeletedStories(db, targetId, params),
);
