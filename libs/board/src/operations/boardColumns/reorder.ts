import { nextVersion } from '@muster/driver';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { lockBoard, setPositions, toColumn } from '../../data/columns.ts';
import { aboutProject, projects } from '../../data/projects.ts';
import { inOrderOf, misplaced, onBoard } from '../../rules/columns.ts';

export const reorder = handle(
  registry.boardColumns.reorder,
  async ({ params, targetId, db, access, emit, refuse }) => {
    const { columnIds } = params;
    const [{ at }, { columns }, project] = await Promise.all([
      access(),
      lockBoard(db, { projectId: targetId }),
      projects.get(db, targetId),
    ]);
    const ordered = inOrderOf(onBoard(columns), columnIds);
    if (ordered === undefined) throw refuse('incomplete_order');

    const moved = misplaced(ordered);
    if (moved.length > 0) {
      db.later(setPositions(moved, at));
      emit('columns.reordered', aboutProject(project), { columnIds });
    }
    const changed = new Map(moved.map((column) => [column.id, nextVersion(column, {}, at)]));
    return { items: ordered.map((column) => toColumn(changed.get(column.id) ?? column)), nextCursor: null };
  },
);
