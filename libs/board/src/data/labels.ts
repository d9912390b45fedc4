/** Labels keep their spelling and are compared case-insensitively. */
import { type Part, sql } from '@muster/driver';

/** Returns the condition that the column contains all of the labels, in any case. */
export const hasLabels = (column: Part, labels: readonly string[]): Part =>
  sql.part`lower(${column}::text)::text[] @> lower(${[...labels]}::text[]::text)::text[]`;
