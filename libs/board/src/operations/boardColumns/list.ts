import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { listColumns } from '../../data/columns.ts';

export const list = handle(boardRegistry.boardColumns.list, ({ params, targetId, db }) =>
  listColumns(db, targetId, params),
);
