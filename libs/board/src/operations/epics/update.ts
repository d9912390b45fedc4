import { registry } from '@muster/registry';
import { changedFields, cleared, handle } from '@muster/runtime';
import { aboutEpic, type EpicRow, lockEpic, setEpic, toEpic } from '../../data/epics.ts';

export const update = handle(registry.epics.update, async ({ params, db, access, emit, refuse }) => {
  const { epicId, expectedVersion, ...given } = params;
  const plain = { ...given, description: cleared(given.description, '') };
  const [{ at }, epic] = await Promise.all([access(), lockEpic(db, epicId)]);
  if (expectedVersion !== undefined && expectedVersion !== epic.version) {
    throw refuse('version_mismatch', { currentVersion: epic.version });
  }
  const fields = changedFields(fieldsOf(epic), plain);
  if (fields.length === 0) return { epic: toEpic(epic) };

  const changed: EpicRow = {
    ...epic,
    title: plain.title ?? epic.title,
    description: plain.description ?? epic.description,
    color: plain.color === undefined ? epic.color : plain.color,
    target_date: plain.targetDate === undefined ? epic.target_date : plain.targetDate,
    status: plain.status ?? epic.status,
    updated_at: at,
    version: epic.version + 1,
  };
  db.later(setEpic(changed));
  emit('epic.updated', aboutEpic(changed), { fields });
  return { epic: toEpic(changed) };
});

/** What an update may change, by the names it has in the contract. */
const fieldsOf = ({ title, description, color, target_date, status }: EpicRow) => ({
  title,
  description,
  color,
  targetDate: target_date,
  status,
});
