import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listRepositories } from '../../data/repositories.ts';

export const list = handle(registry.forges.repositories.list, ({ params, targetId, db }) =>
  listRepositories(db, targetId, params),
);
