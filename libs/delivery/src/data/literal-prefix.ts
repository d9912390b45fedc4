/** Compares resources in SQL by the text before their first wildcard. */
import { type Part, sql } from '@muster/driver';

/** Returns SQL for the part of a resource before its first wildcard or escape. */
export const literalPrefixSql = (resource: Part): Part =>
  sql.part`substring(${resource} from '^[^*?{\\[\\\\]*')`;

/** The condition that a resource can share a path with one whose literal prefix is in the list. */
export const canMeetPrefixSql = (resource: Part, pathPrefixes: readonly string[]): Part =>
  sql.part`exists (select from unnest(${pathPrefixes}::text[]) h(head)
    where starts_with(${resource}, h.head) or starts_with(h.head, ${literalPrefixSql(resource)}))`;
