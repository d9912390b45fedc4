import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { listColumns } from '../../data/columns.ts';

export const list = handle(registry.boardColumns.list, ({ params, caller, db }) =>
  listColumns(db, caller.orgId, params),
);
