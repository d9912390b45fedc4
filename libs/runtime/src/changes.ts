/** Determines which fields of a record really change. */
import { type Git, type GitMeta, mergeGit, emptyGit } from '@muster/contract';
import { isDeepStrictEqual } from 'node:util';
import { type z } from 'zod';

/**
 * Returns the names of the fields whose wanted value differs from the current one; undefined leaves a field
 * unchanged.
 */
export function changedFields<Field extends string>(
  current: Readonly<Record<Field, unknown>>,
  wanted: Readonly<Partial<Record<Field, unknown>>>,
): Field[] {
  // Object.keys loses the type of the keys. `wanted` is built by the callers and has no other keys.
  const fields = Object.keys(wanted) as Field[];
  return fields.filter(
    (field) => wanted[field] !== undefined && !isDeepStrictEqual(wanted[field], current[field]),
  );
}

/**
 * Returns the wanted value of a field that callers clear with null but that is never stored as null; `empty`
 * replaces null.
 */
export const replaceNull = <Value>(wanted: Value | null | undefined, empty: Value): Value | undefined =>
  wanted === null ? empty : wanted;

/**
 * Merges the known state of code with newly reported values. Returns the merged state, or null if nothing is
 * known, and the names of the changed fields.
 */
export function mergeReportedGit(
  current: Git | null,
  reported: z.output<typeof GitMeta>,
): { readonly git: Git | null; readonly fields: string[] } {
  const before = current ?? emptyGit;
  const after = mergeGit(before, reported);
  const isNothing = changedFields(emptyGit, after).length === 0;
  return { git: isNothing ? null : after, fields: changedFields(before, after) };
}
