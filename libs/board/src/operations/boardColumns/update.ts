import { registry } from '@muster/registry';
import { changedFields, handle } from '@muster/runtime';
import { aboutColumn, changedColumn, lockColumn, setColumn, toColumn } from '../../data/columns.ts';

export const update = handle(registry.boardColumns.update, async ({ params, db, access, emit, refuse }) => {
  const { columnId, name, wipLimit, expectedVersion } = params;
  const [{ at }, column] = await Promise.all([access(), lockColumn(db, columnId)]);
  if (expectedVersion !== undefined && expectedVersion !== column.version) {
    throw refuse('version_mismatch', { currentVersion: column.version });
  }
  const fields = changedFields({ name: column.name, wipLimit: column.wip_limit }, { name, wipLimit });
  if (fields.length === 0) return { column: toColumn(column) };

  const changes = {
    name: name ?? column.name,
    wip_limit: wipLimit === undefined ? column.wip_limit : wipLimit,
  };
  const changed = changedColumn(column, changes, at);
  db.later(setColumn(changed));
  emit('column.updated', aboutColumn(changed), { fields });
  return { column: toColumn(changed) };
});
