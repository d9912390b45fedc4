import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listColumns, toColumn } from '../../data/columns.ts';

export const list = handle(registry.boardColumns.list, async ({ params, caller, db }) => {
  const columns = await listColumns(db, caller.orgId, params.projectId, params.includeArchived);
  return {
    items: columns.map((column) => ({ ...toColumn(column), storyCount: column.story_count })),
    nextCursor: null,
  };
});
