import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listDeletedStories } from '../../data/deleted-stories.ts';

export const listDeleted = handle(registry.stories.listDeleted, ({ params, targetId, db }) =>
  listDeletedStories(db, targetId, params),
);
