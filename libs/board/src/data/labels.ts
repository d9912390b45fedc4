/** Labels are kept as they are written, and compared in any case. */
import { type Part, sql } from '@muster/driver';

/** All of the labels are among those of the column, in any case. */
export const hasLabels = (column: Part, labels: readonly string[]): Part =>
  sql.part`lower(${column}::text)::text[] @> lower(${[...labels]}::text[]::text)::text[]`;
