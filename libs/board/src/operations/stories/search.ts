import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { searchStories } from '../../data/stories-of-org.ts';

export const search = handle(boardRegistry.stories.search, ({ params, caller, db }) =>
  searchStories(db, caller, params),
);
