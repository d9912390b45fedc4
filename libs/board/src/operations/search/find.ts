import { boardRegistry } from '@muster/board-registry';
import { handle, requireProject } from '@muster/runtime';
import { findRecords } from '../../data/search.ts';

export const find = handle(boardRegistry.search.find, async ({ params, caller, db }) => {
  const [items] = await Promise.all([
    findRecords(db, caller, params),
    params.projectId === undefined ? undefined : requireProject(db, caller, params.projectId),
  ]);
  return { items, nextCursor: null };
});
