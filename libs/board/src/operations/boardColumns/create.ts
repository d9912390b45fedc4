import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import {
  toColumnEventSubject,
  boardColumns,
  lockBoard,
  setColumnPositions,
  toColumn,
} from '../../data/columns.ts';
import { notInProjectError } from '../../data/elsewhere.ts';
import { findMovedColumns, maxColumns, getActiveColumns } from '../../rules/columns.ts';

export const create = handle(boardRegistry.boardColumns.create, async (context) => {
  const { params, targetId, db, access, emit, refuse } = context;
  const { afterColumnId, ...plan } = params;
  const [{ at }, { projectId, columns }] = await Promise.all([
    access(),
    lockBoard(db, { projectId: targetId }),
  ]);
  const active = getActiveColumns(columns);
  const before =
    afterColumnId === undefined ? active.length - 1 : active.findIndex(({ id }) => id === afterColumnId);
  if (afterColumnId !== undefined && before === -1)
    throw await notInProjectError(context, projectId, 'board_columns', {
      ref: afterColumnId,
      path: 'afterColumnId',
    });
  if (active.length >= maxColumns) throw refuse('limit_exceeded', { limit: maxColumns, used: active.length });

  const column = boardColumns.make({ ...plan, projectId, position: before + 1 }, at);
  db.deferToCommit(boardColumns.insert(column));
  const moved = findMovedColumns(active.toSpliced(column.position, 0, column));
  if (moved.length > 0) db.deferToCommit(setColumnPositions(moved, at));
  emit('column.created', toColumnEventSubject(column), { status: column.status });
  return { column: toColumn(column) };
});
