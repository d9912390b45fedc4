/** Creates and changes the epics that a plan states. */
import { type PlanItemRow } from '../../data/plans.ts';
import { type EpicRow, epics, toEpicEventSubject } from '../../data/epics.ts';
import { type StoryPlanEpic, type StoryPlanEpicChange } from '@muster/contract';
import { keepField } from '../../rules/plan-decisions.ts';
import { type FieldValues, mergeFields } from '../../rules/plan-merge.ts';
import { type LoadedPlan } from './load-plan.ts';

interface PlannedEpic {
  readonly change: StoryPlanEpicChange;
  /** The row after the change; null for a deleted epic, or if the ref leaves the plan. */
  readonly row: EpicRow | null;
  readonly base: FieldValues;
}

const valuesOf = ({ title, color, target_date: targetDate }: EpicRow): FieldValues => ({
  title,
  color,
  targetDate,
});

function planEpic(
  { storedEpics, epicRows, projectId, at }: LoadedPlan,
  { ref, ...planned }: StoryPlanEpic,
): PlannedEpic {
  const stored = storedEpics.get(ref);
  if (stored === undefined) {
    const row = epics.make({ ...planned, projectId }, at);
    const base = valuesOf(row);
    const fields = Object.keys(base).filter((field) => base[field] !== null);
    return { change: { ref, action: 'create', epicId: row.id, fields, kept: [] }, row, base };
  }
  const row = epicRows.get(stored.record_id);
  if (row === undefined) {
    const kept = [keepField('ref', 'deleted')];
    return { change: { ref, action: 'keep', epicId: null, fields: [], kept }, row: null, base: stored.base };
  }
  const merge = mergeFields(stored.base, planned, valuesOf(row));
  const wanted = Object.fromEntries(
    merge.updated.map((field) => [field, planned[field as keyof typeof planned]]),
  );
  const kept = merge.kept.map((field) => keepField(field, 'changed'));
  const untouched = kept.length > 0 ? ('keep' as const) : ('unchanged' as const);
  const action = merge.updated.length > 0 ? ('update' as const) : untouched;
  return {
    change: { ref, action, epicId: row.id, fields: [...merge.updated], kept },
    row: epics.changed(row, wanted, at).changed,
    base: merge.base,
  };
}

export interface EpicsOfPlan {
  readonly plannedEpics: readonly PlannedEpic[];
  /** The ids by ref, including refs of earlier calls; null for a deleted epic. */
  readonly epicIdByRef: ReadonlyMap<string, string | null>;
}

/** Lists the refs that leave the plan: neither its epics nor its items name them. The epics stay on the board. */
function removeGoneEpics({ params, epics: named, items, storedEpics, epicRows }: LoadedPlan): PlannedEpic[] {
  if (!params.prune) return [];
  const kept = new Set([...named.map(({ ref }) => ref), ...items.map(({ epicRef }) => epicRef)]);
  return [...storedEpics.values()]
    .filter(({ ref }) => !kept.has(ref))
    .map(({ ref, record_id: id, base }) => {
      const epicId = epicRows.has(id) ? id : null;
      return { change: { ref, action: 'remove', epicId, fields: [], kept: [] }, row: null, base };
    });
}

export function planEpics(loaded: LoadedPlan): EpicsOfPlan {
  const planned = [...loaded.epics.map((epic) => planEpic(loaded, epic)), ...removeGoneEpics(loaded)];
  const ids = new Map<string, string | null>(
    [...loaded.storedEpics.values()].map(({ ref, record_id: id }) => [
      ref,
      loaded.epicRows.has(id) ? id : null,
    ]),
  );
  for (const { change, row } of planned)
    if (change.action === 'remove') ids.delete(change.ref);
    else ids.set(change.ref, row?.id ?? null);
  return { plannedEpics: planned, epicIdByRef: ids };
}

/**
 * Writes the epics and returns the rows of the plan's items that stand for them. New epics are inserted before
 * it returns, because stories refer to them.
 */
export async function writeEpics(
  { context: { db, emit } }: LoadedPlan,
  { plannedEpics: planned }: EpicsOfPlan,
): Promise<PlanItemRow[]> {
  const created = planned.flatMap(({ change, row }) =>
    change.action === 'create' && row !== null ? [row] : [],
  );
  await Promise.all(epics.insertAll(created).map((insert) => db.all(insert)));
  return planned.flatMap(({ change, row, base }, position) => {
    if (row === null) return [];
    if (change.action === 'create') emit('epic.created', toEpicEventSubject(row), {});
    if (change.action === 'update') {
      db.deferToCommit(epics.write(row));
      emit('epic.updated', toEpicEventSubject(row), { fields: change.fields });
    }
    return [{ kind: 'epic' as const, ref: change.ref, record_id: row.id, position, base }];
  });
}
