import { withNextVersion } from '@muster/driver';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { lockBoard, setColumnPositions, toColumn } from '../../data/columns.ts';
import { toProjectEventSubject, projects } from '../../data/projects.ts';
import { sortColumnsByIds, findMovedColumns, getActiveColumns } from '../../rules/columns.ts';

export const reorder = handle(
  boardRegistry.boardColumns.reorder,
  async ({ params, targetId, db, access, emit, refuse }) => {
    const { columnIds } = params;
    const [{ at }, { columns }, project] = await Promise.all([
      access(),
      lockBoard(db, { projectId: targetId }),
      projects.get(db, targetId),
    ]);
    const ordered = sortColumnsByIds(getActiveColumns(columns), columnIds);
    if (ordered === undefined) throw refuse('incomplete_order');

    const moved = findMovedColumns(ordered);
    if (moved.length > 0) {
      db.deferToCommit(setColumnPositions(moved, at));
      emit('columns.reordered', toProjectEventSubject(project), { columnIds });
    }
    const changed = new Map(moved.map((column) => [column.id, withNextVersion(column, {}, at)]));
    return { items: ordered.map((column) => toColumn(changed.get(column.id) ?? column)), nextCursor: null };
  },
);
