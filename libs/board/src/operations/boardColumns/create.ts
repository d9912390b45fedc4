import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutColumn, boardColumns, lockBoard, setPositions, toColumn } from '../../data/columns.ts';
import { notInProject } from '../../data/elsewhere.ts';
import { misplaced, mostColumns, onBoard } from '../../rules/columns.ts';

export const create = handle(registry.boardColumns.create, async (context) => {
  const { params, targetId, db, access, emit, refuse } = context;
  const { afterColumnId, ...plan } = params;
  const [{ at }, { projectId, columns }] = await Promise.all([
    access(),
    lockBoard(db, { projectId: targetId }),
  ]);
  const active = onBoard(columns);
  const before =
    afterColumnId === undefined ? active.length - 1 : active.findIndex(({ id }) => id === afterColumnId);
  if (afterColumnId !== undefined && before === -1) {
    throw await notInProject(context, projectId, 'board_columns', {
      ref: afterColumnId,
      path: 'afterColumnId',
    });
  }
  if (active.length >= mostColumns)
    throw refuse('limit_exceeded', { limit: mostColumns, used: active.length });

  const column = boardColumns.make({ ...plan, projectId, position: before + 1 }, at);
  db.later(boardColumns.insert(column));
  const moved = misplaced(active.toSpliced(column.position, 0, column));
  if (moved.length > 0) db.later(setPositions(moved, at));
  emit('column.created', aboutColumn(column), { status: column.status });
  return { column: toColumn(column) };
});
