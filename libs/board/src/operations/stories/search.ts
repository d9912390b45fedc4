import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { searchStories } from '../../data/stories-of-org.ts';

export const search = handle(registry.stories.search, ({ params, caller, db }) =>
  searchStories(db, caller, params),
);
