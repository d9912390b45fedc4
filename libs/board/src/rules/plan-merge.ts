/**
 * Compares the fields of a plan's item with the board, field by field: the value that the plan applied last, its
 * value now, and the value on the board.
 */
import { isDeepStrictEqual } from 'node:util';

/** Values by field, in a form in which equal values are deeply equal. A missing field has no known value. */
export type FieldValues = Readonly<Record<string, unknown>>;

export interface FieldMerge {
  /** The fields to write on the board. */
  readonly updated: readonly string[];
  /** The fields that were changed on the board since the plan applied them, and differ from the plan. */
  readonly kept: readonly string[];
  /** The values that the plan has applied after the update. */
  readonly base: FieldValues;
}

/** Merges the values of a plan into those of the board. Fields that the plan omits stay as they are. */
export function mergeFields(base: FieldValues, planned: FieldValues, current: FieldValues): FieldMerge {
  const updated: string[] = [];
  const kept: string[] = [];
  const applied: Record<string, unknown> = { ...base };
  for (const [field, value] of Object.entries(planned)) {
    if (value === undefined) continue;
    if (!isDeepStrictEqual(value, current[field])) {
      if (!isDeepStrictEqual(base[field], current[field])) {
        kept.push(field);
        continue;
      }
      updated.push(field);
    }
    applied[field] = value;
  }
  return { updated, kept, base: applied };
}

/** Returns the merge without the update of a field that could not be written. */
export const withoutUpdate = (merge: FieldMerge, base: FieldValues, refused: string): FieldMerge => ({
  ...merge,
  updated: merge.updated.filter((field) => field !== refused),
  base: { ...merge.base, [refused]: base[refused] },
});
