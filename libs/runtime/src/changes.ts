/** Which fields of a record really change. */
import { isDeepStrictEqual } from 'node:util';

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
