import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { toColumnEventSubject, boardColumns, toColumn } from '../../data/columns.ts';

export const update = handle(boardRegistry.boardColumns.update, async ({ params, db, access, emit }) => {
  const { columnId, expectedVersion, ...wanted } = params;
  const [{ at }, column] = await Promise.all([access(), boardColumns.lock(db, columnId, expectedVersion)]);
  const { changed, fields } = boardColumns.change(db, column, wanted, at);
  if (fields.length > 0) emit('column.updated', toColumnEventSubject(changed), { fields });
  return { column: toColumn(changed) };
});
