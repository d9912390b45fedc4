import { registry } from '@muster/registry';
import { handle, requireProject } from '@muster/runtime';
import { findRecords } from '../../data/search.ts';

export const find = handle(registry.search.find, async ({ params, caller, db }) => {
  const [items] = await Promise.all([
    findRecords(db, caller, params),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return { items, nextCursor: null };
});
