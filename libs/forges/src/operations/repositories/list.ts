import { forgesRegistry } from '@muster/forges-registry';
import { handle } from '@muster/runtime';
import { listRepositories } from '../../data/repositories.ts';

export const list = handle(forgesRegistry.forges.repositories.list, ({ params, targetId, db }) =>
  listRepositories(db, targetId, params),
);
