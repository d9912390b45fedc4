/** Which fields of a record really change. */
import { type Git, type GitMeta, mergeGit, nothingKnown } from '@muster/registry';
import { isDeepStrictEqual } from 'node:util';
import { type z } from 'zod';

/** The names of the fields for which another value is wanted than the present one; undefined wants none. */
export function changedFields<Field extends string>(
  now: Readonly<Record<Field, unknown>>,
  wanted: Readonly<Partial<Record<Field, unknown>>>,
): Field[] {
  // Object.keys forgets the names it was given; `wanted` is built by its callers and has no others.
  const fields = Object.keys(wanted) as Field[];
  return fields.filter(
    (field) => wanted[field] !== undefined && !isDeepStrictEqual(wanted[field], now[field]),
  );
}

/** What is wanted of a field that null clears, and that is never null itself: `empty` is what it has then. */
export const cleared = <Value>(wanted: Value | null | undefined, empty: Value): Value | undefined =>
  wanted === null ? empty : wanted;

/** What is known of code after this news, null where nothing is, and which fields of it changed. */
export function changedGit(
  now: Git | null,
  news: z.output<typeof GitMeta>,
): { readonly git: Git | null; readonly fields: string[] } {
  const before = now ?? nothingKnown;
  const after = mergeGit(before, news);
  const isNothing = changedFields(nothingKnown, after).length === 0;
  return { git: isNothing ? null : after, fields: changedFields(before, after) };
}
