import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listColumns } from '../../data/columns.ts';

export const list = handle(registry.boardColumns.list, ({ params, targetId, db }) =>
  listColumns(db, targetId, params),
);
