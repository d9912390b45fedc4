/** Creates and changes the epics that a plan states. */
import { type PlanItemRow } from '../../data/plans.ts';
import { type EpicRow, epics, toEpicEventSubject } from '../../data/epics.ts';
import { type StoryPlanEpic, type StoryPlanEpicChange } from '@muster/registry';
import { keepField } from '../../rules/plan-decisions.ts';
import { type FieldValues, mergeFields } from '../../rules/plan-merge.ts';
import { type LoadedPlan } from './load-plan.ts';

interface PlannedEpic {
  readonly change: StoryPlanEpicChange;
  /** The row after the change; null for a deleted epic. */
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
    const change = { ...{ ref, action: 'create' as const, epicId: row.id }, fields: ['title'], kept: [] };
    return { change, row, base: valuesOf(row) };
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
  readonly planned: readonly PlannedEpic[];
  /** The ids by ref, including refs of earlier calls; null for a deleted epic. */
  readonly ids: ReadonlyMap<string, string | null>;
}

export function planEpics(loaded: LoadedPlan): EpicsOfPlan {
  const planned = loaded.epics.map((epic) => planEpic(loaded, epic));
  const ids = new Map<string, string | null>(
    [...loaded.storedEpics.values()].map(({ ref, record_id: id }) => [
      ref,
      loaded.epicRows.has(id) ? id : null,
    ]),
  );
  for (const { change, row } of planned) ids.set(change.ref, row?.id ?? null);
  return { planned, ids };
}

/**
 * Writes the epics and returns the rows of the plan's items that stand for them. New epics are inserted before
 * it returns, because stories refer to them.
 */
export async function writeEpics(
  { context: { db, emit } }: LoadedPlan,
  { planned }: EpicsOfPlan,
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
